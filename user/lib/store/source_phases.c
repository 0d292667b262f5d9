// SPDX-License-Identifier: BSD-2-Clause
#include "store/source_phases.h"

void marks_add(struct phases *p, const struct line *l)
{
	uint64_t elapsed_ns;
	size_t length;
	const char *text = line_get_mark(l, &length, &elapsed_ns);

	if (text)
		phases_add_mark(p, text, length, elapsed_ns);
}

void marks_add_time(struct phase_times *t, const struct line *l)
{
	uint64_t elapsed_ns;
	size_t length;
	const char *text = line_get_mark(l, &length, &elapsed_ns);

	if (text)
		phase_times_add(t, text, length, elapsed_ns);
}

struct events_to {
	struct phase_times *times;
	struct stalls *stalls;
};

static int event_line(void *context, struct line *l)
{
	const struct events_to *to = context;

	marks_add_time(to->times, l);
	stalls_add(to->stalls, l->tree);
	return 0;
}

int events_read(struct source *s, struct phase_times *t, struct stalls *stalls)
{
	struct events_to to = { t, stalls };

	return source_each(s, PART(LINE_EVENT), event_line, &to);
}

static int mark_line(void *context, struct line *l)
{
	marks_add(context, l);
	return 0;
}

static int mark_sample_line(void *context, struct line *l)
{
	phases_add_sample(context, &l->sample);
	return 0;
}

int phases_read(struct phases *p, struct source *s, uint64_t wall_ns)
{
	int err = source_each(s, PART(LINE_EVENT), mark_line, p);

	if (!err)
		err = source_each(s, PART(LINE_SAMPLE), mark_sample_line, p);
	phases_finish(p, wall_ns);
	return err;
}

static int paths_add_line(void *context, struct line *l)
{
	return span_paths_add(context, &l->span);
}

int spans_read_paths(struct source *s, bool is_each, struct span_paths *p)
{
	int err;

	*p = (struct span_paths){ 0 };
	err = source_each(s, PART(LINE_SPAN), paths_add_line, p);
	return err ? err : span_paths_finish(p, is_each);
}

static int longest_add_line(void *context, struct line *l)
{
	longest_span_add(context, &l->span);
	return 0;
}

int spans_read_longest(struct source *s, struct longest_span *longest)
{
	*longest = (struct longest_span){ 0 };
	return source_each(s, PART(LINE_SPAN), longest_add_line, longest);
}

struct summing {
	const struct span_paths *paths;
	struct span_sums *sums;
};

static int sums_add_line(void *context, struct line *l)
{
	struct summing *to = context;

	span_sums_add(to->sums, to->paths, &l->span);
	return 0;
}

int spans_read_sums(struct source *s, const struct span_paths *p, struct span_sums *sums)
{
	struct summing to = { p, sums };
	int err = span_sums_init(sums, p);

	return err ? err : source_each(s, PART(LINE_SPAN), sums_add_line, &to);
}
