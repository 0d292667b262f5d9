// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon advise: computes from stored runs what to request for the next run. */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "options/option_values.h"
#include "store/named_run.h"
#include "store/source.h"
#include "store/stores.h"

#include "study/advice.h"
#include "base/exit_status.h"
#include "base/fd.h"
#include "base/log.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define OF_TAG "tags." /* before a tag that is called span */
#define MOST_READ 1000 /* newest runs whose lines are read, which takes long */

struct advise_options {
	struct common_options common;
	struct filter_options filter;
	struct store_options store;
	const char *size_tag; /* NULL: the tag that explains most */
	bool by_span;
	uint64_t node_bytes; /* 0: not given */
	enum advice_for to;
	enum print_format as;
};

static int advise_for_parse(void *to, const char *text)
{
	int at = word_find(advice_for_words + 1, NR_FOR - 1, text);

	if (at < 0)
		return at;
	*(enum advice_for *)to = (enum advice_for)(at + 1);
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct advise_options, field)

static const struct option_row advise_rows[] = {
	{ "for", 0, "SYSTEM", false, "Print only the lines for slurm, k8s, nextflow or snakemake", advise_for_parse, AT(to), PROJECT_MAY },
	{ "node-memory", 0, "SIZE", false, "Memory of the target nodes, as in 64GiB", size_parse, AT(node_bytes), GUARD_NONE },
	{ "by", 0, "span|TAG", false, "span: advise each span name; TAG: input size (default: best fit)", text_parse, AT(size_tag), PROJECT_MAY },
	{ "format", 'f', "FORMAT", false, "Output format: text (default) or json", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group advise_groups[] = {
	{ filter_rows, AT(filter), false },   { advise_rows, 0, false },
	{ store_rows, AT(store), true },      { node_rows, AT(store), false },
	{ node_agent_rows, AT(store), true }, { colour_rows, AT(common), true },
	{ common_rows, AT(common), false },   { 0 },
};

static int advise_parse(void *options, int argc, char **argv)
{
	struct advise_options *o = options;
	int err = options_parse(&subcommand_advise, options, argc, argv);

	if (!err && o->size_tag && !strcmp(o->size_tag, "span")) {
		o->by_span = true;
		o->size_tag = NULL;
	}
	if (!err && o->filter.filter.span)
		o->by_span = true;
	if (!err && o->size_tag && !strncmp(o->size_tag, OF_TAG, strlen(OF_TAG)))
		o->size_tag += strlen(OF_TAG);
	if (!err && o->size_tag && o->by_span)
		return options_refuse("advice for spans cannot use the tag", o->size_tag);
	if (!err && o->as == PRINT_JSON && o->to)
		return options_refuse("--json cannot be combined with", "--for");
	if (!err && o->size_tag && o->to)
		return options_refuse("--for cannot be combined with", "--by");
	return err;
}

static void advise_help(void)
{
	puts("Usage: bpfmon advise [OPTIONS] [NAME...]\n"
	     "\n"
	     "Suggests how much memory, time and how many cores to request for the next run, "
	     "based\n"
	     "on the recorded runs that match the filters. The requests cover all of these runs "
	     "with\n"
	     "a margin. NAME is given as RUN for `bpfmon show`, and selects all runs of that "
	     "name.\n"
	     "A second table gives the request that wastes the least memory x time, assuming "
	     "that a\n"
	     "run that exceeds it is restarted with twice as much.\n");
	options_print(&subcommand_advise);
	puts("\nExit status: 0: success, 2: usage error, unreadable store, or no usable run.");
}

static int advice_show(const struct advise_options *o, const struct advice *a)
{
	char **names = o->common.words;
	const char *what = *names && !names[1] ? *names : o->filter.filter.name;
	struct jsonw j = { 0 };

	if (o->to) {
		advice_lines(stdout, a, o->to);
	} else if (o->as == PRINT_JSON) {
		advice_json(&j, a, what);
		if (jsonw_print(&j, stdout))
			return -ENOMEM;
	} else {
		advice_print(stdout, a, what);
	}
	return 0;
}

struct readings {
	struct run_request *requests;
	struct utsname host;
};

static void request_take_meta(void *context, size_t at, const char *line)
{
	struct readings *r = context;

	run_request_read_meta(&r->requests[at], line, r->host.nodename);
}

static void request_take_summary(void *context, size_t at, const char *line)
{
	run_request_read_summary(&((struct readings *)context)->requests[at], line);
}

static int advise_refuse_nothing(const struct advise_options *o)
{
	log_error("no run matches the filters; '%s' shows all runs",
		  stores_list_command(o->store.of_node));
	return -ENODATA;
}

static int advise_from(const struct advise_options *o, const struct stored_runs *all,
		       const struct advice_from *from)
{
	struct advice a;
	int err = advice_make(&a, all, from);

	if (err == -ENODATA && !all->nr)
		return advise_refuse_nothing(o);
	if (err == -ENODATA) {
		log_error("none of the %zu runs that match the filters can be used: a run must "
			  "have ended, and its memory, CPU time and duration must be known; see "
			  "'bpfmon list' with the same filters",
			  all->nr);
		return err;
	}
	if (!err && o->size_tag && !a.has_size)
		log_warn("tag '%s' cannot predict the memory: it must be a number in at least 5 "
			 "runs, and must vary",
			 o->size_tag);
	if (!err && o->to && a.nr < FEW_RUNS)
		log_warn("based on only %zu run%s; record more for a better estimate", a.nr,
			 a.nr == 1 ? "" : "s");
	if (!err)
		err = advice_show(o, &a);
	if (err)
		log_error("cannot compute requests from %zu runs: %s", all->nr, strerror(-err));
	return err;
}

static int advise_read(const struct advise_options *o, const struct stores *s,
		       struct stored_runs *all)
{
	struct advice_from from = { .size_tag = o->size_tag,
				    .node = { .capacity = (double)o->node_bytes } };
	struct stored_runs newest; /* not owned */
	struct readings r;
	int err;

	stored_runs_sort(all, BY_START);
	from.nr_requests = all->nr < MOST_READ ? all->nr : MOST_READ;
	r.requests = memory_calloc(from.nr_requests + 1, sizeof(*r.requests));
	if (!r.requests || uname(&r.host)) {
		log_error("out of memory while computing the requests of %zu runs",
			  from.nr_requests);
		free(r.requests);
		return -ENOMEM;
	}
	for (size_t i = 0; i < from.nr_requests; i++)
		r.requests[i] = RUN_REQUEST_UNKNOWN;
	from.requests = r.requests;
	newest = (struct stored_runs){ .runs = all->runs, .nr = from.nr_requests };
	err = stores_lines(s, &newest, TEXT_META, request_take_meta, &r);
	if (!err)
		err = stores_lines(s, &newest, TEXT_SUMMARY, request_take_summary, &r);
	if (!err)
		err = advise_from(o, all, &from);
	free(r.requests);
	return err;
}

struct reading_spans {
	const struct advise_options *options;
	struct span_groups groups;
	size_t run;
};

static int spans_take_line(void *context, struct line *l)
{
	struct reading_spans *r = context;
	const char *name = r->options->filter.filter.span;

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
	const struct advise_options *o = r->options;
	const struct node node = { .capacity = (double)o->node_bytes };
	struct advice a;
	int err = span_group_advise(g, &node, &a);

	if (err)
		return err == -ENODATA ? 0 : err;
	*few += a.nr < FEW_RUNS;
	if (o->as == PRINT_JSON) {
		span_advice_json(j, g, &a);
	} else {
		if (*printed)
			putchar('\n');
		span_advice_print(stdout, g, &a, o->to);
	}
	++*printed;
	return 0;
}

static int span_groups_print(struct reading_spans *r)
{
	const bool is_json = r->options->as == PRINT_JSON;
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
		log_error("no span can be used: a span must have ended, and its memory, CPU time "
			  "and duration must be known; 'bpfmon show RUN --by span' lists the spans "
			  "of a run");
		err = -ENODATA;
	} else if (!err && is_json) {
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

/*
 * Prints advice for each name from the spans of the newest runs. Returns 0, or a negative errno
 * after a message.
 */
static int advise_by_span(const struct advise_options *o, const struct stores *s,
			  struct stored_runs *all)
{
	struct reading_spans r = { .options = o };
	int err;

	if (!all->nr)
		return advise_refuse_nothing(o);
	stored_runs_sort(all, BY_START);
	err = spans_read_runs(&r, s, all, all->nr < MOST_READ ? all->nr : MOST_READ);
	if (!err)
		err = span_groups_print(&r);
	if (r.groups.left_out)
		log_warn("%" PRIu64 " spans are left out: there are too many different names",
			 r.groups.left_out);
	span_groups_done(&r.groups);
	return err;
}

static int cmd_advise(int argc, char **argv)
{
	struct stored_runs all = { 0 };
	struct run_filter filter;
	struct stores s = { 0 };
	struct advise_options o;
	int go_on = options_begin(&subcommand_advise, &o, argc, argv), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	filter = filter_get(&o.filter);
	if (!stores_find(&s, &o.store) && !stores_query(&s, &filter, &all) &&
	    !run_words_select(&s, o.common.words, &all) &&
	    !(o.by_span ? advise_by_span(&o, &s, &all) : advise_read(&o, &s, &all)))
		status = 0;
	stored_runs_done(&all);
	stores_done(&s);
	return status;
}

static void advise_offer(const struct completion *c, const char *first)
{
	(void)first;
	completion_offer_names(c);
}

const struct subcommand subcommand_advise = {
	.name = "advise",
	.summary = "suggest resource requests for the next run",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = advise_offer },
	.run = cmd_advise,
	.groups = advise_groups,
	.options_bytes = sizeof(struct advise_options),
	.parse = advise_parse,
	.help = advise_help,
};
