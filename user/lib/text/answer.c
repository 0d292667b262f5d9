// SPDX-License-Identifier: BSD-2-Clause
#include "text/answer.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/number.h"
#include "run/tree.h"
#include "text/format.h"
#include "text/summary_lines.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#define KIB 1024ULL
#define MIB (KIB * KIB)

/*
 * Rounds up to two significant digits in the unit that is shown. The result is never below @bytes.
 */
static uint64_t request_round_up(uint64_t bytes)
{
	uint64_t unit = MIB, step;

	while (bytes >= 1000 * unit && unit < MIB * MIB)
		unit *= KIB;
	step = bytes >= 100 * unit                 ? 10 * unit
	       : bytes >= 10 * unit || unit == MIB ? unit
						   : (unit + 9) / 10;
	return (bytes + step - 1) / step * step;
}

/* Avoids an overflow: no margin is added to huge values. */
static uint64_t request_add_margin(uint64_t bytes)
{
	return request_round_up(
		bytes > UINT64_MAX / 4 ? bytes : bytes + bytes * ANSWER_MARGIN_PERCENT / 100);
}

static const char *answer_find_doubt(const struct summary *s)
{
	if (s->oom_kills)
		return "of a run that was out of memory";
	if (s->is_attached)
		return "while attached";
	if (s->has_status && (s->signal || s->exit_code))
		return "of a run that failed";
	if (!s->complete || !s->has_status)
		return "of an incomplete run";
	return NULL;
}

static void answer_set_request(struct answer *a, const struct summary *s)
{
	a->doubt = answer_find_doubt(s);
	if (s->oom_kills && s->oom.limit_bytes) {
		a->basis = REQUEST_LIMIT;
		a->request_bytes = s->oom.limit_bytes;
		a->is_least = true;
		return;
	}
	a->needed = memory_needed_of(s);
	if (!a->needed.bytes)
		return;
	a->basis = REQUEST_NEEDED;
	a->is_least = a->doubt || needed_is_least(&a->needed) || a->needed.unmapped_bytes;
	a->request_bytes = request_add_margin(a->needed.bytes);
}

static void cores_lower(uint64_t *cores, const json_t *v)
{
	double n = json_is_number(v) ? json_number_value(v) : 0;
	uint64_t thousandths = n > 0 ? number_clamp(round(n * 1000)) : 0;

	if (thousandths && (!*cores || thousandths < *cores))
		*cores = thousandths;
}

uint64_t answer_cores_available(const json_t *meta)
{
	const json_t *limits = json_object_get(meta, "limits");
	uint64_t cores = 0;

	cores_lower(&cores, json_object_get(json_object_get(meta, "system"), "cpus"));
	cores_lower(&cores, json_object_get(limits, "cpus_allowed_count"));
	cores_lower(&cores, json_object_get(limits, "cpu_max_cores"));
	return cores;
}

static void answer_set_available(struct answer *a, const json_t *meta)
{
	const json_t *machine = json_object_get(json_object_get(meta, "system"), "memory_bytes");
	const json_t *limit = json_object_get(json_object_get(meta, "limits"), "memory_max_bytes");
	json_int_t all = json_integer_value(machine), most = json_integer_value(limit);

	a->memory_is_limited = most > 0 && (all <= 0 || most < all);
	a->memory_available = (uint64_t)(a->memory_is_limited ? most : all > 0 ? all : 0);
}

void answer_of_run(struct answer *a, const struct summary *s, const json_t *meta,
		   struct phase_times *times, struct stalls *stalls)
{
	*a = (struct answer){ .wall_ns = s->wall_ns };
	answer_set_request(a, s);
	answer_set_available(a, meta);
	a->has_cores = summary_has_total(s, M_cpu) && s->wall_ns;
	if (a->has_cores) {
		a->cores_used = summary_cores_mean(s);
		a->cores_available = answer_cores_available(meta);
	}
	if (summary_has_total(s, M_gpu)) {
		a->gpus_held = s->gpus_held_peak;
		a->gpus_used = summary_gpus_mean(s);
	}
	a->has_phase = times && s->wall_ns && phase_times_longest(times, s->wall_ns, &a->phase);
	slowdown_of_run(&a->slowdown, s, member_read_epoch(meta, "start_time"),
			answer_cores_available(meta), stalls);
}

void answer_of_running(struct answer *a)
{
	if (a->doubt)
		a->doubt = "of a run that goes on";
	a->slowdown.kind = SLOWDOWN_NONE;
}

void answer_of_span(struct answer *a, const struct summary *used)
{
	const bool has_failed = used->has_status && (used->signal || used->exit_code);

	*a = (struct answer){ .wall_ns = used->wall_ns };
	answer_set_request(a, used);
	a->doubt = used->oom_kills   ? "of a span that was out of memory"
		   : has_failed      ? "of a span that failed"
		   : !used->complete ? "of an incomplete span"
				     : NULL;
	if (a->basis == REQUEST_NEEDED)
		a->is_least = a->doubt || needed_is_least(&a->needed) || a->needed.unmapped_bytes;
}

#define NAME_COLUMNS 40

/* Formats a size as a user would type it, without ".0". */
static char *request_format(char *out, uint64_t bytes)
{
	static const char *const units[] = { "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes / 1048576;
	size_t u = 0;

	while (v >= 1000 && u + 1 < sizeof(units) / sizeof(*units)) {
		v /= 1024;
		u++;
	}
	snprintf(out, FORMAT_BYTES, fabs(v - round(v)) < 0.05 ? "%.0f %s" : "%.1f %s", v, units[u]);
	return out;
}

/* Writes what the request is derived from, such as "peak up to 522 MiB + 10 %". */
static void request_put_reason(FILE *f, const struct answer *a)
{
	const struct memory_needed *n = &a->needed;
	const char *title = !strcmp(n->witness, "cgroup") ? "its cgroup needed"
			    : !strcmp(n->witness, "pss")  ? "PSS"
							  : "peak";
	char bytes[FORMAT_BYTES];

	fprintf(f, " (%s %s%s + %d %%", title, needed_bound_text(n), format_bytes(bytes, n->bytes),
		ANSWER_MARGIN_PERCENT);
	if (n->unmapped_bytes)
		fprintf(f, ", without up to %s of files in memory",
			format_bytes(bytes, n->unmapped_bytes));
	if (a->doubt)
		fprintf(f, ", %s", a->doubt);
	fputc(')', f);
}

void answer_request_text(FILE *f, const struct answer *a)
{
	char text[FORMAT_BYTES];

	if (a->basis == REQUEST_NONE)
		return;
	if (a->basis == REQUEST_LIMIT) {
		fprintf(f, "more than %s (the limit that was too small)",
			format_bytes(text, a->request_bytes));
		return;
	}
	fprintf(f, "%s%s", a->is_least ? "at least " : "", request_format(text, a->request_bytes));
	request_put_reason(f, a);
}

void answer_memory_markdown(FILE *f, const struct answer *a)
{
	char needed[FORMAT_BYTES], available[FORMAT_BYTES];

	if (a->basis != REQUEST_NEEDED || !a->memory_available)
		return;
	fprintf(f, "\n**Memory: %s%s of %s %s (%.1f %%)**\n", needed_bound_text(&a->needed),
		format_bytes(needed, a->needed.bytes),
		a->memory_is_limited ? "the limit," : "the machine's",
		format_bytes(available, a->memory_available),
		(double)a->needed.bytes * 100 / (double)a->memory_available);
}

void answer_cores_text(FILE *f, const struct answer *a)
{
	uint64_t whole = a->cores_available / 1000, part = a->cores_available % 1000 / 10;

	if (!a->has_cores)
		return;
	fprintf(f, "%" PRIu64 ".%02" PRIu64, a->cores_used / 1000, a->cores_used % 1000 / 10);
	if (a->cores_available && part)
		fprintf(f, " of %" PRIu64 ".%02" PRIu64, whole, part);
	else if (a->cores_available)
		fprintf(f, " of %" PRIu64, whole);
	fputs(a->cores_available == 1000 ? " core" : " cores", f);
}

#define LEAST_GPU_PERCENT 10 /* of the GPUs held: a greater use needs no sentence */

void answer_gpus_text(FILE *f, const struct answer *a)
{
	const uint64_t percent = a->gpus_held ? a->gpus_used / 10 / a->gpus_held : 0;
	char count[FORMAT_BYTES];

	if (!a->gpus_held || percent >= LEAST_GPU_PERCENT || a->wall_ns < GPUS_LEAST_NS)
		return;
	format_count(count, a->gpus_held);
	fprintf(f, "its %s%sGPU%s %s ", a->gpus_held == 1 ? "" : count,
		a->gpus_held == 1 ? "" : " ", a->gpus_held == 1 ? "" : "s",
		a->gpus_held == 1 ? "was" : "were");
	if (percent)
		fprintf(f, "in use %" PRIu64 " %% of the time", percent);
	else
		fputs("in use less than 1 % of the time", f);
}

static unsigned phase_percent(const struct answer *a)
{
	return (unsigned)round((double)a->phase.ns * 100 / (double)a->wall_ns);
}

void answer_phase_text(FILE *f, const struct answer *a)
{
	char count[FORMAT_BYTES];

	if (!a->has_phase)
		return;
	fprintf(f, "%u %% of the time ", phase_percent(a));
	if (!a->phase.text) {
		fputs("before the first mark", f);
		return;
	}
	fputs("in phase ", f);
	format_beginning(f, a->phase.text, NAME_COLUMNS);
	if (a->phase.count > 1)
		fprintf(f, " (x %s)", format_count(count, a->phase.count));
}

/* Writes what @write writes, if anything, behind a semicolon. */
static void answer_put_part(FILE *f, const struct answer *a, answer_part_fn *write)
{
	__cleanup(freep) char *text = answer_part_make(write, a);

	if (text && *text)
		fprintf(f, "; %s", text);
}

void answer_text(FILE *f, const struct answer *a)
{
	bool has_request = a->basis != REQUEST_NONE;

	if (!has_request && !a->has_cores)
		return;
	fprintf(f, "  %-11s ", has_request ? "request" : "used");
	answer_request_text(f, a);
	if (a->has_cores) {
		fputs(has_request ? "; used " : "", f);
		answer_cores_text(f, a);
	}
	answer_put_part(f, a, answer_gpus_text);
	answer_put_part(f, a, answer_phase_text);
	fputc('\n', f);
}

static void request_json(struct jsonw *j, const struct answer *a)
{
	if (a->basis == REQUEST_NONE)
		return;
	jsonw_uint(j, "request_bytes", a->request_bytes);
	jsonw_string(j, "request_from",
		     a->basis == REQUEST_LIMIT ? "limit" : "memory_needed_bytes");
	jsonw_bool(j, "request_is_least", a->is_least);
	if (a->doubt)
		jsonw_string(j, "request_doubt", a->doubt);
}

char *answer_part_make(answer_part_fn *write, const struct answer *a)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (f)
		write(f, a);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

void answer_slowdown_text(FILE *f, const struct answer *a)
{
	slowdown_text(f, &a->slowdown);
}

static void slowdown_json(struct jsonw *j, const struct answer *a)
{
	__cleanup(freep) char *text = answer_part_make(answer_slowdown_text, a);

	if (!text)
		j->failed = true;
	else if (*text)
		jsonw_string(j, "slowdown", text);
}

void answer_json(struct jsonw *j, const struct answer *a)
{
	jsonw_object(j, "answer");
	slowdown_json(j, a);
	request_json(j, a);
	if (a->has_cores)
		jsonw_decimal(j, "cores_used", a->cores_used, 3);
	if (a->has_cores && a->cores_available)
		jsonw_decimal(j, "cores_available", a->cores_available, 3);
	if (a->gpus_held) {
		jsonw_uint(j, "gpus_held", a->gpus_held);
		jsonw_decimal(j, "gpus_used", a->gpus_used, 3);
	}
	if (a->has_phase) {
		jsonw_object(j, "longest_phase");
		jsonw_string(j, "text", a->phase.text);
		jsonw_uint(j, "count", a->phase.count);
		jsonw_decimal(j, "seconds", a->phase.ns, 9);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}
