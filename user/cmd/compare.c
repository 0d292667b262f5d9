// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon compare [OPTIONS] RUN RUN...: runs against each other, value by value. */
#include "cmd/compare.h"

#include "cmd/compare_outcomes.h"
#include "cmd/compare_page.h"
#include "cmd/compare_runs.h"
#include "cmd/option_values.h"

#include "base/log.h"
#include "compare/diff.h"
#include "compare/steps_text.h"
#include "compare/text.h"
#include "view/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_FAILED 1

static int fail_if_parse(void *options, const char *text)
{
	struct compare_options *o = options;

	if (o->nr_fail_if == MAX_FAIL_IF)
		return -EINVAL;
	o->fail_if[o->nr_fail_if++] = text;
	return 0;
}

/* Both may be given: groups of runs, step by step. */
static int compare_by_parse(void *options, const char *text)
{
	struct compare_options *o = options;

	if (strcmp(text, "span") != 0)
		return text_parse(&o->by, text);
	o->by_span = true;
	return 0;
}

/* May be empty: a run may have no value of the tag. */
static int baseline_parse(void *value, const char *text)
{
	*(const char **)value = text;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct compare_options, field)

static const struct option_row compare_rows[] = {
	{ "by", 0, "TAG|span", false, "Runs with the same value of this tag are a group; span: see above", compare_by_parse, 0, GUARD_NONE },
	{ "baseline", 0, "VALUE", false, "This group, named by its value of the tag, is the first", baseline_parse, AT(baseline), GUARD_NONE },
	{ "fail-if", 0, "EXPRESSION", false, "Exit 1 when it holds: 'rss_peak_bytes > +10%'; may be repeated", fail_if_parse, 0, GUARD_NONE },
	{ "significant", 0, NULL, false, "Differences that may be noise do not fail", flag_parse, AT(significant), GUARD_NONE },
	{ "html", 0, "PATH", false, "Draw the runs' curves over each other, as a page for a browser", text_parse, AT(html), GUARD_ENVIRONMENT },
	{ "json", 0, NULL, false, "One JSON document instead of tables", flag_parse, AT(json), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group compare_groups[] = {
	{ force_rows, AT(force), false },   { filter_rows, AT(filter), false },
	{ store_rows, AT(store), true },    { compare_rows, 0, false },
	{ common_rows, AT(common), false }, { 0 },
};

static int compare_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_compare, options, argc, argv);
}

static void compare_help(void)
{
	puts("Usage: bpfmon compare [OPTIONS] RUN RUN...\n"
	     "       bpfmon compare [OPTIONS] --by TAG [RUN...]\n\n"
	     "Compares runs with the first of them, or groups of runs with the first group: "
	     "values,\n"
	     "whether their difference is more than noise, and what else changed. RUN is a number\n"
	     "of `bpfmon list`, a name, a file that -o run.jsonl wrote, prmon's JSON file, or "
	     "what\n"
	     "GNU time -v printed. Without one, the runs of the store that --name and the other\n"
	     "filters let pass are compared, those that have ended; with --by alone, all.\n"
	     "With --by span what the spans of each name used, below the names of those around\n"
	     "them, is compared, and EXPRESSION holds for these; --by TAG may be given, too.\n");
	options_print(&subcommand_compare);
	puts("\nEXPRESSION is KEY OP VALUE; OP is > < >= <=; VALUE is a difference with its sign\n"
	     "(+10%, -5%, +20MiB, +500ms), or the value itself without one (2GiB, 30s, 0).\n\n"
	     "Exit status: 0; 1 an expression of --fail-if holds; 2 usage, not found, no run.");
}

static int groups_check(const struct groups *g, const struct compare_options *o)
{
	if (g->nr > 1)
		return 0;
	if (o->by)
		log_error("all %zu runs have the same value of the tag '%s': there is nothing to "
			  "compare",
			  g->nr ? g->list[0].nr : 0, o->by);
	else
		log_error("comparing takes two runs; try: bpfmon compare before.jsonl after.jsonl");
	return -EINVAL;
}

static int groups_make(struct groups *g, const struct sides *all, const struct compare_options *o)
{
	const struct side *without = NULL;
	int err = o->by ? groups_by_tag(g, all, o->by, &without) : groups_each(g, all);

	if (err == -ENOENT && without) {
		log_error("'%s' has no tag '%s' to be grouped by", without->name, o->by);
	} else if (err) {
		log_error("out of memory for %zu runs", all->nr);
	} else if (o->baseline && groups_baseline(g, o->baseline)) {
		log_error("no run has '%s' as %s, to be the baseline", o->baseline,
			  o->by ? o->by : "its name");
		err = -ENOENT;
	}
	return err ? err : groups_check(g, o);
}

/* What is compared, and what came out. */
struct compared {
	struct sides runs;
	struct steps steps;
	struct groups groups;
	struct comparison comparison;
	struct outcomes outcomes;
};

static void compared_print(const struct compared *x, const struct compare_options *o,
			   const json_t *diff)
{
	size_t keys[MAX_FAIL_IF], width = terminal_width(stdout);

	for (size_t i = 0; i < o->nr_fail_if; i++)
		keys[i] = x->outcomes.expressions[i].key;
	if (o->by_span)
		steps_text(stdout, &x->steps, &x->comparison, diff, keys, o->nr_fail_if, width);
	else
		comparison_text(stdout, &x->comparison, diff, width);
}

static int compared_show(const struct compared *x, const struct compare_options *o)
{
	json_t *diff = facts_diff(&x->groups);
	struct jsonw j = { 0 };
	bool page_failed = false;
	int err = diff ? 0 : -ENOMEM;

	if (!err && o->json) {
		comparison_document(&j, &x->comparison, o->by_span ? &x->steps : NULL, &x->runs,
				    diff, x->outcomes.list, x->outcomes.nr);
		err = j.failed ? -ENOMEM : 0;
		if (!err)
			fwrite(j.text, 1, j.used, stdout);
	} else if (!err) {
		compared_print(x, o, diff);
	}
	if (!err && o->html && compare_page_write(&x->comparison, diff, o))
		page_failed = true;
	json_decref(diff);
	jsonw_done(&j);
	if (!err && (fflush(stdout) || ferror(stdout)))
		err = -EIO;
	if (err)
		log_error("cannot write the comparison to stdout: %s", strerror(-err));
	return page_failed ? -EIO : err; /* reported already */
}

/* The exit status. */
static int compared_report(struct compared *x, const struct compare_options *o)
{
	const struct steps *steps = o->by_span ? &x->steps : NULL;

	if (groups_compare(&x->comparison, &x->groups) ||
	    (steps && steps_compare(&x->steps, &x->groups, &x->runs))) {
		log_error("out of memory for %zu groups", x->groups.nr);
		return EXIT_USAGE;
	}
	if (outcomes_evaluate(&x->outcomes, o, &x->comparison, steps) || compared_show(x, o))
		return EXIT_USAGE;
	if (x->steps.left_out)
		log_warn("%" PRIu64 " spans are left out: their names are too many",
			 x->steps.left_out);
	outcomes_report_failed(&x->outcomes, &x->comparison);
	return x->outcomes.has_failed ? EXIT_FAILED : 0;
}

static int cmd_compare(int argc, char **argv)
{
	struct compared x = { 0 };
	struct compare_options o;
	int go_on = options_begin(&subcommand_compare, &o, argc, argv), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (!outcomes_parse(&x.outcomes, &o) && !compare_runs_read(&x.runs, &x.steps, &o) &&
	    !groups_make(&x.groups, &x.runs, &o))
		status = compared_report(&x, &o);
	outcomes_done(&x.outcomes);
	comparison_done(&x.comparison);
	groups_done(&x.groups);
	steps_done(&x.steps);
	sides_done(&x.runs);
	return status;
}

const struct subcommand subcommand_compare = {
	.name = "compare",
	.summary = "runs against each other",
	.part = PART_READS,
	.run = cmd_compare,
	.groups = compare_groups,
	.options_bytes = sizeof(struct compare_options),
	.parse = compare_parse,
	.help = compare_help,
};
