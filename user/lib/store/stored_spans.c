// SPDX-License-Identifier: BSD-2-Clause
#include "store/stored_spans.h"

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
