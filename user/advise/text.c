// SPDX-License-Identifier: BSD-2-Clause
/* Advice for people, and for programs. */
#include "advise/print.h"

#include "view/format.h"

#include <inttypes.h>
#include <math.h>

#define FEW 10

static void need_print(FILE *f, const char *title, const struct spread *s, uint64_t request,
		       char *(*format)(char *out, uint64_t value))
{
	const uint64_t values[] = { s->median, s->p95, s->p99, s->largest, request };
	char text[FORMAT_BYTES];

	fprintf(f, "  %-8s", title);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		fprintf(f, "%12s", format(text, values[i]));
	fputc('\n', f);
}

static char *format_cores(char *out, uint64_t milli)
{
	snprintf(out, FORMAT_BYTES, "%.2f", (double)milli / 1000);
	return out;
}

static void allocation_print(FILE *f, const char *title, const struct allocation *a)
{
	char text[FORMAT_BYTES];

	fprintf(f,
		"  %-24s%12s: %.0f %% of what is held is used, %.1f %% of the runs start again\n",
		title, format_bytes(text, (uint64_t)a->request), 100 * a->used, 100 * a->retried);
}

static void retries_print(FILE *f, const struct advice *a)
{
	fputs("\n  where a run that needs more is started again with twice the memory:\n", f);
	allocation_print(f, "least waste", &a->least_waste);
	if (a->node.capacity > 0)
		allocation_print(f, "most runs on such a node", &a->most_runs);
}

static void use_print(FILE *f, const char *title, const struct use *u)
{
	if (!u->nr)
		return;
	fprintf(f, "  of the %s requested so far %.0f %% was used (%zu run%s", title,
		100 * u->share, u->nr, u->nr == 1 ? "" : "s");
	if (u->nr_beyond)
		fprintf(f, ", %zu needed more", u->nr_beyond);
	fputs(")\n", f);
}

static void uses_print(FILE *f, const struct advice *a)
{
	if (a->memory_use.nr || a->cores_use.nr)
		fputc('\n', f);
	use_print(f, "memory", &a->memory_use);
	use_print(f, "CPU time", &a->cores_use);
}

static void size_print(FILE *f, const struct advice *a)
{
	char base[FORMAT_BYTES], above[FORMAT_BYTES];
	const double b = a->by_size.base;

	if (!a->has_size)
		return;
	fprintf(f, "\n  by size: memory = %s%s + %.4g bytes x %s\n           ", b < 0 ? "-" : "",
		format_bytes(base, (uint64_t)(b < 0 ? -b : b)), a->by_size.slope,
		a->size_is_of_files ? "bytes of the files that the command names" : a->size_tag);
	fprintf(f,
		"explains %.0f %% of its variance (%zu runs); no run was more than %s above it\n",
		100 * a->by_size.explained, a->nr_sized,
		format_bytes(above, (uint64_t)a->by_size.above));
}

static void certainty_print(FILE *f, const struct advice *a)
{
	fprintf(f,
		"\n  how sure: the next run needs more than the largest so far with a chance of 1 "
		"in "
		"%zu;\n            with a certainty of 95 %% the largest is enough for at least "
		"%.0f "
		"%% of such runs",
		a->nr + 1, floor(100 * a->covered));
	if (a->nr < FEW)
		fprintf(f, ";\n            %zu run%s tell%s little: record more of them", a->nr,
			a->nr == 1 ? "" : "s", a->nr == 1 ? "s" : "");
	fputc('\n', f);
}

void advice_print(FILE *f, const struct advice *a, const char *what)
{
	fprintf(f, "%s%s%zu run%s", what ? what : "", what ? ": " : "", a->nr,
		a->nr == 1 ? "" : "s");
	if (a->nr_failed)
		fprintf(f, ", %zu of them failed", a->nr_failed);
	if (a->nr_left)
		fprintf(f, "; %zu left out, as they have not ended or have no values", a->nr_left);
	fprintf(f, "\n\n  %-8s%12s%12s%12s%12s%12s\n", "", "median", "95 %", "99 %", "largest",
		"request");
	need_print(f, "memory", &a->memory, a->memory_request, format_bytes);
	need_print(f, "cores", &a->cores, a->cores_request * 1000, format_cores);
	need_print(f, "time", &a->wall, a->wall_request, format_seconds);
	if (a->nr_written)
		need_print(f, "written", &a->written, a->written_request, format_bytes);
	uses_print(f, a);
	retries_print(f, a);
	size_print(f, a);
	certainty_print(f, a);
}

static void spread_json(struct jsonw *j, const char *name, const struct spread *s, uint64_t request,
			unsigned decimals)
{
	jsonw_object(j, name);
	jsonw_decimal(j, "median", s->median, decimals);
	jsonw_decimal(j, "p95", s->p95, decimals);
	jsonw_decimal(j, "p99", s->p99, decimals);
	jsonw_decimal(j, "largest", s->largest, decimals);
	jsonw_decimal(j, "request", request, decimals);
	jsonw_object_end(j);
}

/* From 0 to 1. */
static void share_json(struct jsonw *j, const char *key, double share)
{
	jsonw_decimal(j, key, (uint64_t)(share * 1e9 + 0.5), 9);
}

static void use_json(struct jsonw *j, const char *name, const struct use *u)
{
	if (!u->nr)
		return;
	jsonw_object(j, name);
	jsonw_uint(j, "runs", u->nr);
	jsonw_uint(j, "needed_more", u->nr_beyond);
	share_json(j, "used", u->share);
	jsonw_object_end(j);
}

static void size_json(struct jsonw *j, const struct advice *a)
{
	if (!a->has_size)
		return;
	jsonw_object(j, "by_size");
	if (!a->size_is_of_files)
		jsonw_string(j, "tag", a->size_tag);
	jsonw_uint(j, "runs", a->nr_sized);
	jsonw_int(j, "base_bytes", (int64_t)a->by_size.base);
	jsonw_double(j, "bytes_per_unit", a->by_size.slope);
	share_json(j, "explained", a->by_size.explained);
	jsonw_uint(j, "most_above_bytes", (uint64_t)a->by_size.above);
	jsonw_object_end(j);
}

static void allocation_json(struct jsonw *j, const char *name, const struct allocation *a)
{
	jsonw_object(j, name);
	jsonw_uint(j, "rss_bytes", (uint64_t)a->request);
	share_json(j, "used", a->used);
	share_json(j, "retried", a->retried);
	jsonw_object_end(j);
}

void advice_json(struct jsonw *j, const struct advice *a, const char *what)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "advise");
	if (what)
		jsonw_string(j, "of", what);
	jsonw_uint(j, "runs", a->nr);
	jsonw_uint(j, "left_out", a->nr_left);
	jsonw_uint(j, "failed", a->nr_failed);
	spread_json(j, "rss_peak_bytes", &a->memory, a->memory_request, 0);
	spread_json(j, "cores", &a->cores, a->cores_request * 1000, 3);
	spread_json(j, "wall_seconds", &a->wall, a->wall_request, 9);
	if (a->nr_written)
		spread_json(j, "write_bytes", &a->written, a->written_request, 0);
	allocation_json(j, "least_waste", &a->least_waste);
	if (a->node.capacity > 0)
		allocation_json(j, "most_runs", &a->most_runs);
	size_json(j, a);
	use_json(j, "memory_requested", &a->memory_use);
	use_json(j, "cores_requested", &a->cores_use);
	share_json(j, "chance_beyond_largest", a->beyond);
	share_json(j, "covered", a->covered);
	jsonw_object_end(j);
}
