// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_window.h"

#include "base/memory.h"
#include "page/charts.h"

#include <errno.h>
#include <stdlib.h>

struct page_window {
	struct report_charts charts;
	uint64_t to_ns;
};

static int page_window_add_line(void *context, struct line *l)
{
	struct page_window *w = context;

	if (l->kind == LINE_SAMPLE && l->sample.elapsed_ns <= w->to_ns)
		charts_add(&w->charts, &l->sample);
	return 0;
}

int page_window_write(struct source *s, uint64_t from_ns, uint64_t to_ns, struct jsonw *j)
{
	struct page_window *w = memory_calloc(1, sizeof(*w)); /* too large for the stack */
	struct metric_set needed = { 0 };
	int err = w ? charts_init(&w->charts, CHART_ROOM) : -ENOMEM;

	charts_add_metrics(&needed);
	s->only = &needed;
	s->samples_from_ns = from_ns;
	s->samples_to_ns = to_ns;
	if (!err) {
		w->to_ns = to_ns;
		w->charts.from_ns = from_ns + 1;
		w->charts.shows_rare = true; /* the rest of the run may have other values */
		err = source_each(s, PART(LINE_SAMPLE), page_window_add_line, w);
	}
	s->only = NULL;
	s->samples_from_ns = s->samples_to_ns = 0;
	jsonw_object(j, NULL);
	if (!err)
		err = charts_write(&w->charts, j);
	jsonw_object_end(j);
	if (w)
		charts_done(&w->charts);
	free(w);
	return err ? err : j->failed ? -ENOMEM : 0;
}
