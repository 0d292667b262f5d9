// SPDX-License-Identifier: BSD-2-Clause
/* Advice for people, and for programs. */
#include "study/print.h"

#include "text/format.h"

#include <inttypes.h>
#include <math.h>

#define MIB (1ULL << 20)
#define KIB (1ULL << 10)
#define MOST_FINE 1000  /* bytes for each of the size, up to which fractions matter */
#define MOST_BYTES 1e18 /* a line may lead anywhere */
#define TAG_COLUMNS 60
#define NAME_COLUMNS 60
#define IN_MIB (100 * MIB) /* from there on */

/* Rounded up: what is requested as it is printed is enough. */
static char *format_request(char *out, uint64_t bytes)
{
	const uint64_t unit = bytes >= IN_MIB || bytes % MIB == 0 ? MIB : KIB;
	char count[FORMAT_BYTES];

	snprintf(out, FORMAT_BYTES, "%.20s %s",
		 format_count(count, bytes / unit + (bytes % unit > 0)),
		 unit == MIB ? "MiB" : "KiB");
	return out;
}

typedef char *value_format(char *out, uint64_t value);

static void need_print(FILE *f, const char *title, const struct spread *s, uint64_t request,
		       value_format *format, value_format *request_format)
{
	const uint64_t values[] = { s->median, s->p95, s->p99, s->largest };
	char text[FORMAT_BYTES];

	fprintf(f, "  %-8s", title);
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++)
		fprintf(f, "%12s", format(text, values[i]));
	fprintf(f, "%14s\n", request_format(text, request));
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
		title, format_request(text, (uint64_t)ceil(a->request)), 100 * a->used,
		100 * a->retried);
}

static void retries_print(FILE *f, const struct advice *a)
{
	fputs("\n  where a run that needs more is started again with twice the memory:\n", f);
	if (a->nr_too_large)
		fprintf(f, "  %zu of the %zu runs need%s more than such a node has\n",
			a->nr_too_large, a->nr, a->nr_too_large == 1 ? "s" : "");
	if (a->nr_too_large == a->nr)
		return;
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
	char base[FORMAT_BYTES], above[FORMAT_BYTES], slope[FORMAT_BYTES];
	const double b = a->by_size.base, each = fabs(a->by_size.slope);

	if (!a->has_size)
		return;
	if (each < MOST_FINE)
		snprintf(slope, sizeof(slope), "%.4g bytes", each);
	else
		format_bytes(slope, (uint64_t)fmin(each, MOST_BYTES));
	fprintf(f, "\n  by size: memory = %s%s %c %s x ", b < 0 ? "-" : "",
		format_bytes(base, (uint64_t)fmin(fabs(b), MOST_BYTES)),
		a->by_size.slope < 0 ? '-' : '+', slope);
	if (a->size_is_of_files)
		fputs("bytes of the files that the command names", f);
	else
		format_beginning(f, a->size_tag, TAG_COLUMNS);
	fprintf(f,
		"\n           "
		"explains %.0f %% of its variance (%zu runs); no run was more than %s above it\n",
		100 * a->by_size.explained, a->nr_sized,
		format_bytes(above, (uint64_t)fmin(a->by_size.above, MOST_BYTES)));
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
	if (a->nr < FEW_RUNS)
		fprintf(f, ";\n            %zu run%s few: record more", a->nr,
			a->nr == 1 ? " is" : "s are");
	fputc('\n', f);
}

void advice_print(FILE *f, const struct advice *a, const char *what)
{
	if (what) {
		format_beginning(f, what, NAME_COLUMNS);
		fputs(": ", f);
	}
	fprintf(f, "%zu run%s%s", a->nr, a->nr == 1 ? "" : "s",
		a->has_names ? " of different names" : "");
	if (a->nr_incomplete)
		fprintf(f, ", %zu of them incomplete", a->nr_incomplete);
	if (a->nr_failed)
		fprintf(f, ", %zu of them failed", a->nr_failed);
	if (a->nr_left)
		fprintf(f, "; %zu left out, as they have not ended or have no values", a->nr_left);
	fprintf(f, "\n\n  %-8s%12s%12s%12s%12s%14s\n", "", "median", "95 %", "99 %", "largest",
		"request");
	need_print(f, "memory", &a->memory, a->memory_request, format_bytes, format_request);
	need_print(f, "cores", &a->cores, a->cores_request * 1000, format_cores, format_cores);
	need_print(f, "time", &a->wall, a->wall_request, format_seconds, format_seconds);
	if (a->nr_written)
		need_print(f, "written", &a->written, a->written_request, format_bytes,
			   format_request);
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
	jsonw_int(j, "base_bytes", (int64_t)fmax(fmin(a->by_size.base, MOST_BYTES), -MOST_BYTES));
	jsonw_double(j, "bytes_per_unit", a->by_size.slope);
	share_json(j, "explained", a->by_size.explained);
	jsonw_uint(j, "most_above_bytes", (uint64_t)fmin(a->by_size.above, MOST_BYTES));
	jsonw_object_end(j);
}

static void allocation_json(struct jsonw *j, const char *name, const struct allocation *a)
{
	if (!(a->request > 0))
		return;
	jsonw_object(j, name);
	jsonw_uint(j, "rss_bytes", (uint64_t)ceil(a->request));
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
	jsonw_uint(j, "incomplete", a->nr_incomplete);
	if (a->node.capacity > 0)
		jsonw_uint(j, "too_large", a->nr_too_large);
	spread_json(j, "memory_needed_bytes", &a->memory, a->memory_request, 0);
	spread_json(j, "rss_peak_bytes", &a->rss, a->memory_request, 0);
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
	jsonw_newline(j);
}
