// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/advise_spans.h"

#include "base/log.h"
#include "store/source.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>

struct reading_spans {
	const struct spans_wanted *wanted;
	struct span_groups groups;
	size_t run;
};

static int spans_take_line(void *context, struct line *l)
{
	struct reading_spans *r = context;
	const char *name = r->wanted->name;

	if (name && fnmatch(name, l->span.label.name, FNM_NOESCAPE) != 0)
		return 0;
	return span_groups_add(&r->groups, &l->span, r->run);
}

static int spans_read_runs(struct reading_spans *r, const struct stores *s,
			   const struct stored_runs *runs, size_t nr)
{
	static struct source src; /* too large for the stack */
	int err = 0;

	for (r->run = 0; !err && r->run < nr; r->run++) {
		err = stores_switch_run(s, &runs->runs[r->run], &src);
		if (err)
			break; /* already reported */
		err = source_each(&src, PART(LINE_SPAN), spans_take_line, r);
		if (err)
			log_error("cannot read run %" PRId64 ": %s", runs->runs[r->run].id,
				  source_why(&src, err));
	}
	source_close(&src);
	return err;
}

/* Prints what is known of a group. Returns 0 or -ENOMEM; leaves out a group without values. */
static int group_print(const struct reading_spans *r, const struct span_group *g, struct jsonw *j,
		       size_t *printed, size_t *few)
{
	const struct spans_wanted *w = r->wanted;
	struct advice a;
	int err = span_group_advise(g, &w->node, &a);

	if (err)
		return err == -ENODATA ? 0 : err;
	*few += a.nr < FEW_RUNS;
	if (w->is_json) {
		span_advice_json(j, g, &a);
	} else {
		if (*printed)
			putchar('\n');
		span_advice_print(stdout, g, &a, w->to);
	}
	++*printed;
	return 0;
}

static int span_groups_print(struct reading_spans *r)
{
	const struct spans_wanted *w = r->wanted;
	size_t printed = 0, few = 0;
	struct jsonw j = { 0 };
	int err = 0;

	span_groups_sort(&r->groups);
	jsonw_object(&j, NULL);
	jsonw_schema(&j, "advise");
	jsonw_string(&j, "by", "span");
	jsonw_array(&j, "spans");
	for (size_t i = 0; !err && i < r->groups.nr; i++)
		err = group_print(r, &r->groups.all[i], &j, &printed, &few);
	jsonw_array_end(&j);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	if (!err && !printed) {
		log_error("no span can be used: the runs that match the filters have none that "
			  "ended, with memory, CPU time and duration; 'bpfmon show RUN --by span' "
			  "lists those of a run");
		err = -ENODATA;
	} else if (!err && w->is_json) {
		err = jsonw_print(&j, stdout) ? -ENOMEM : 0;
	}
	jsonw_done(&j);
	if (err == -ENOMEM)
		log_error("out of memory for the spans");
	if (!err && few)
		log_warn("%zu of %zu names have fewer than %d spans: record more", few, printed,
			 FEW_RUNS);
	return err;
}

int advise_by_span(const struct spans_wanted *w, const struct stores *s,
		   const struct stored_runs *runs, size_t nr)
{
	struct reading_spans r = { .wanted = w };
	int err = spans_read_runs(&r, s, runs, nr);

	if (!err)
		err = span_groups_print(&r);
	if (r.groups.left_out)
		log_warn("%" PRIu64 " spans are left out: they have too many names",
			 r.groups.left_out);
	span_groups_done(&r.groups);
	return err;
}
