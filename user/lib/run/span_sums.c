// SPDX-License-Identifier: BSD-2-Clause
#include "run/span_sums.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* clang-format off */
static const struct {
	struct span_value_kind kind;
	enum metric_id id; /* NR_METRICS: it is no counter */
} values[NR_SPAN_VALUES] = {
	[SPAN_CPU]        = { { "cpu_seconds", UNIT_NS, SPAN_SUMMED, true }, M_cpu },
	[SPAN_WALL]       = { { "wall_seconds", UNIT_NS, SPAN_SUMMED, false }, NR_METRICS },
	[SPAN_PEAK]       = { { "rss_peak_bytes", UNIT_BYTES, SPAN_LARGEST, false }, NR_METRICS },
	[SPAN_PEAK_UPPER] = { { "rss_peak_upper_bytes", UNIT_BYTES, SPAN_LARGEST, false }, NR_METRICS },
	[SPAN_PROCESSES]  = { { "processes_total", UNIT_COUNT, SPAN_SUMMED, true }, NR_METRICS },
	[SPAN_READ]       = { { "read_bytes", UNIT_BYTES, SPAN_SUMMED, true }, M_read },
	[SPAN_WRITTEN]    = { { "write_bytes", UNIT_BYTES, SPAN_SUMMED, true }, M_write },
	[SPAN_USER]       = { { "user_seconds", UNIT_NS, SPAN_SUMMED, true }, M_user },
	[SPAN_SYSTEM]     = { { "system_seconds", UNIT_NS, SPAN_SUMMED, true }, M_system },
	[SPAN_WAITED]     = { { "runqueue_wait_seconds", UNIT_NS, SPAN_SUMMED, true }, M_runqueue_wait },
};
/* clang-format on */

const struct span_value_kind *span_value_kind(enum span_value v)
{
	return &values[v].kind;
}

bool span_value_get(const struct summary *s, enum span_value v, uint64_t *value)
{
	bool is_exact = s->has_rss_peak_exact;

	switch (v) {
	case SPAN_WALL:
		*value = s->wall_ns;
		return true;
	case SPAN_PEAK:
		*value = is_exact ? s->rss_peak_exact_bytes : s->rss_peak_bytes;
		return is_exact || s->has_rss_peak;
	case SPAN_PEAK_UPPER:
		*value = is_exact ? s->rss_peak_exact_bytes : s->rss_peak_upper_bytes;
		return is_exact || s->has_rss_peak_upper;
	case SPAN_PROCESSES:
		*value = s->processes_total;
		return true;
	default:
		*value = s->total.value[values[v].id];
		return sample_has(&s->total, values[v].id);
	}
}

int span_sums_init(struct span_sums *s, const struct span_paths *p)
{
	*s = (struct span_sums){ .of = calloc(p->nr + 1, sizeof(*s->of)) };
	return s->of ? 0 : -ENOMEM;
}

static void amount_add(struct span_amount *a, uint64_t v)
{
	a->sum += v;
	if (!a->nr || v < a->least)
		a->least = v;
	if (!a->nr || v > a->most)
		a->most = v;
	a->nr++;
}

static void span_note_why(char *why, size_t room, const struct summary *used)
{
	size_t n = 0;

	if (used->reason[0] || !used->nr_losses) {
		snprintf(why, room, "%s", used->reason);
		return;
	}
	for (size_t i = 0; i < used->nr_losses && n < room; i++)
		n += (size_t)snprintf(why + n, room - n, "%s%" PRIu64 " %s", i ? ", " : "lost ",
				      used->losses[i].count, used->losses[i].name);
}

static void span_sum_add(struct span_sum *sum, const struct span *span)
{
	const struct summary *used = &span->used;
	uint64_t v;

	if (used->has_status) {
		if (!sum->with_status++)
			sum->status = used->signal ? 128 + used->signal : used->exit_code;
		sum->failed += used->signal || used->exit_code;
	}
	if (!used->complete && !sum->incomplete++)
		span_note_why(sum->why, sizeof(sum->why), used);
	sum->unended += !span->end_epoch_ns;
	sum->nr++;
	for (int i = 0; i < NR_SPAN_VALUES; i++)
		if (span_value_get(used, (enum span_value)i, &v))
			amount_add(&sum->amount[i], v);
}

void span_sums_add(struct span_sums *s, const struct span_paths *p, const struct span *span)
{
	size_t path = span_paths_find(p, span->id);

	if (path == NO_PATH)
		return;
	span_sum_add(&s->of[path], span);
	if (p->all[path].parent != NO_PATH)
		return;
	span_sum_add(&s->outermost, span);
	s->in_place += span->in_place;
}

bool span_sums_rest(const struct span_sums *s, const struct summary *run, enum span_value v,
		    uint64_t *rest)
{
	const struct span_amount *a = &s->outermost.amount[v];
	uint64_t total;

	if (!values[v].kind.is_of_rest || a->nr != s->outermost.nr ||
	    !span_value_get(run, v, &total))
		return false;
	if (v == SPAN_PROCESSES)
		total += s->in_place;
	*rest = total - a->sum;
	return total >= a->sum;
}

void span_sums_done(struct span_sums *s)
{
	free(s->of);
	*s = (struct span_sums){ 0 };
}
