// SPDX-License-Identifier: BSD-2-Clause
#include "run/span_sums.h"

#include "base/memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
static const struct {
	struct span_value_kind kind;
	enum metric_id id; /* NR_METRICS: not a counter */
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
	*s = (struct span_sums){ .of = memory_calloc(p->nr + 1, sizeof(*s->of)) };
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

static void span_format_reason(char *why, size_t room, const struct summary *used)
{
	char text[LOSS_TEXT_BYTES], count[24];
	size_t n = 0;

	if (used->reason[0] || !used->nr_losses) {
		snprintf(why, room, "%s", used->reason);
		return;
	}
	for (size_t i = 0; i < used->nr_losses && n < room; i++) {
		snprintf(count, sizeof(count), "%" PRIu64, used->losses[i].count);
		loss_format(text, &used->losses[i], count);
		n += (size_t)snprintf(why + n, room - n, "%s%s", i ? ", " : "lost ", text);
	}
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
		span_format_reason(sum->why, sizeof(sum->why), used);
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

void longest_span_add(struct longest_span *longest, const struct span *s)
{
	if (longest->nr++ && s->used.wall_ns <= longest->wall_ns)
		return;
	longest->wall_ns = s->used.wall_ns;
	snprintf(longest->name, sizeof(longest->name), "%s", s->label.name);
}

#define INDEX_SLOTS (2UL * MAX_SPAN_PATHS)

static void *array_grow(void *array, size_t *room, size_t size)
{
	size_t more = *room ? *room * 2 : 64;
	void *grown = memory_reallocarray(array, more, size);

	if (grown)
		*room = more;
	return grown;
}

int span_paths_add(struct span_paths *p, const struct span *s)
{
	struct span_place *place;

	if (p->nr_spans == MAX_SPANS) {
		p->left_out++;
		return 0;
	}
	if (p->nr_spans == p->spans_room) {
		place = array_grow(p->spans, &p->spans_room, sizeof(*place));
		if (!place)
			return -ENOMEM;
		p->spans = place;
	}
	place = &p->spans[p->nr_spans];
	*place = (struct span_place){ .id = s->id, .parent = s->parent, .path = NO_PATH };
	place->name = memory_strdup(s->label.name);
	if (!place->name)
		return -ENOMEM;
	p->nr_spans++;
	return 0;
}

static int by_span_id(const void *a, const void *b)
{
	uint64_t x = ((const struct span_place *)a)->id, y = ((const struct span_place *)b)->id;

	return (x > y) - (x < y);
}

static struct span_place *span_place_find(const struct span_paths *p, uint64_t id)
{
	const struct span_place key = { .id = id };

	return p->nr_spans ? bsearch(&key, p->spans, p->nr_spans, sizeof(key), by_span_id) : NULL;
}

/* FNV-1a hash of the parent and the name. */
static size_t path_hash(const struct span_path *wanted)
{
	uint64_t h = 14695981039346656037ULL ^ (wanted->parent + wanted->is_orphan);

	for (const char *c = wanted->name; *c; c++)
		h = (h ^ (unsigned char)*c) * 1099511628211ULL;
	return (size_t)((h ^ h >> 29) % INDEX_SLOTS);
}

/* Returns the slot of the path, or the free slot for it. */
static uint32_t *path_find_slot(struct span_paths *p, const struct span_path *wanted)
{
	size_t slot = path_hash(wanted);

	for (; p->index[slot]; slot = (slot + 1) % INDEX_SLOTS) {
		const struct span_path *is = &p->all[p->index[slot] - 1];

		if (is->parent == wanted->parent && is->is_orphan == wanted->is_orphan &&
		    !strcmp(is->name, wanted->name))
			break;
	}
	return &p->index[slot];
}

void span_path_link(struct span_paths *p, size_t at)
{
	struct span_path *path = &p->all[at];
	struct span_path *parent = path->parent == NO_PATH ? NULL : &p->all[path->parent];
	size_t *first = parent ? &parent->first : &p->first;
	size_t *last = parent ? &parent->last : &p->last;

	if (*first == NO_PATH)
		*first = at;
	else
		p->all[*last].next = at;
	*last = at;
}

static int path_append(struct span_paths *p, const struct span_path *path)
{
	if (p->nr == p->room) {
		struct span_path *all = array_grow(p->all, &p->room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		p->all = all;
	}
	p->all[p->nr] = *path;
	span_path_link(p, p->nr++);
	return 0;
}

/* Returns the path for a span. The enclosing spans began earlier, so they already have paths. */
static struct span_path path_of_span(const struct span_paths *p, const struct span_place *s)
{
	const struct span_place *around =
		s->parent && s->parent < s->id ? span_place_find(p, s->parent) : NULL;
	struct span_path path = { .name = s->name,
				  .id = s->id,
				  .parent = around ? around->path : NO_PATH,
				  .first = NO_PATH,
				  .last = NO_PATH,
				  .next = NO_PATH };

	path.is_orphan = s->parent && path.parent == NO_PATH;
	if (path.parent != NO_PATH && p->all[path.parent].depth + 1 >= MAX_SPAN_DEPTH)
		path.parent = p->all[path.parent].parent;
	path.depth = path.parent == NO_PATH ? 0 : p->all[path.parent].depth + 1;
	return path;
}

static int span_find_path(struct span_paths *p, struct span_place *s, bool is_each)
{
	struct span_path path = path_of_span(p, s);
	uint32_t *slot = is_each ? NULL : path_find_slot(p, &path);
	int err;

	if (slot && *slot) {
		s->path = *slot - 1;
		return 0;
	}
	if (p->nr == MAX_SPAN_PATHS) {
		p->left_out++;
		return 0;
	}
	err = path_append(p, &path);
	if (err)
		return err;
	s->path = p->nr - 1;
	if (slot)
		*slot = (uint32_t)p->nr;
	return 0;
}

int span_paths_finish(struct span_paths *p, bool is_each)
{
	int err = 0;

	p->first = p->last = NO_PATH;
	if (!p->nr_spans)
		return 0;
	p->index = memory_calloc(INDEX_SLOTS, sizeof(*p->index));
	if (!p->index)
		return -ENOMEM;
	qsort(p->spans, p->nr_spans, sizeof(*p->spans), by_span_id);
	for (size_t i = 0; !err && i < p->nr_spans; i++)
		err = span_find_path(p, &p->spans[i], is_each);
	return err;
}

size_t span_paths_find(const struct span_paths *p, uint64_t id)
{
	const struct span_place *s = span_place_find(p, id);

	return s ? s->path : NO_PATH;
}

size_t span_paths_next(const struct span_paths *p, size_t path)
{
	if (path == NO_PATH)
		return p->first;
	if (p->all[path].first != NO_PATH)
		return p->all[path].first;
	while (path != NO_PATH && p->all[path].next == NO_PATH)
		path = p->all[path].parent;
	return path == NO_PATH ? NO_PATH : p->all[path].next;
}

void span_paths_done(struct span_paths *p)
{
	for (size_t i = 0; i < p->nr_spans; i++)
		free(p->spans[i].name);
	free(p->spans);
	free(p->all);
	free(p->index);
	*p = (struct span_paths){ 0 };
}
