// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon compare [OPTIONS] RUN RUN...: runs against each other, value by value. */
#include "cmd/compare.h"

#include "cmd/compare_page.h"
#include "cmd/compare_runs.h"
#include "cmd/option_values.h"

#include "base/log.h"
#include "compare/diff.h"
#include "compare/document.h"
#include "compare/text.h"
#include "view/format.h"
#include "view/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXIT_FAILED 1
#define NAME_COLUMNS 60

static int fail_if_parse(void *options, const char *text)
{
	struct compare_options *o = options;

	if (o->nr_fail_if == MAX_FAIL_IF)
		return -EINVAL;
	o->fail_if[o->nr_fail_if++] = text;
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
	{ "by", 0, "TAG", false, "Runs with the same value of this tag are a group", text_parse, AT(by), GUARD_NONE },
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
	     "filters let pass are compared, those that have ended; with --by alone, all.\n");
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

static int expressions_parse(struct expression *all, const struct compare_options *o)
{
	char why[200];

	for (size_t i = 0; i < o->nr_fail_if; i++) {
		if (!expression_parse(&all[i], o->fail_if[i], why, sizeof(why)))
			continue;
		log_error("--fail-if does not take '%s': %s", o->fail_if[i], why);
		return -EINVAL;
	}
	return 0;
}

/* Names of runs are untrusted: they are printed through format_name(). */
static void outcome_report_unknown(const struct outcome *x, const struct comparison *c, int err)
{
	const char *key = compare_key(x->expression->key).name;
	size_t lacks = spread_of(c, x->group, x->expression->key)->nr ? 0 : x->group;

	fprintf(stderr, "bpfmon: --fail-if '%s' cannot be decided: ", x->expression->text);
	if (err == -ENOENT) {
		format_name(stderr, c->groups->list[lacks].name, NAME_COLUMNS);
		fprintf(stderr, " has no %s\n", key);
	} else {
		fprintf(stderr,
			"%zu and %zu runs are too few to tell a change from noise; 4 in each of "
			"two "
			"groups are enough\n",
			spread_of(c, 0, x->expression->key)->nr,
			spread_of(c, x->group, x->expression->key)->nr);
	}
}

/* Evaluates all expressions for all groups but the first. @failed: one of them holds. */
static int outcomes_evaluate(const struct expression *e, const struct compare_options *o,
			     const struct comparison *c, struct outcome *outcomes, bool *failed)
{
	size_t others = c->groups->nr - 1;

	for (size_t i = 0; i < o->nr_fail_if * others; i++) {
		struct outcome *x = &outcomes[i];
		int err;

		*x = (struct outcome){ .expression = &e[i / others], .group = i % others + 1 };
		err = expression_holds(x->expression, c, x->group, o->significant, &x->holds);
		if (err) {
			outcome_report_unknown(x, c, err);
			return err;
		}
		*failed |= x->holds;
	}
	return 0;
}

static void outcomes_report_failed(const struct outcome *outcomes, size_t nr,
				   const struct comparison *c)
{
	for (size_t i = 0; i < nr; i++) {
		if (!outcomes[i].holds)
			continue;
		fputs("bpfmon: failed: ", stderr);
		if (c->groups->nr > 2) {
			format_name(stderr, c->groups->list[outcomes[i].group].name, NAME_COLUMNS);
			fputs(": ", stderr);
		}
		expression_write(stderr, outcomes[i].expression, c, outcomes[i].group);
		fputc('\n', stderr);
	}
}

static int comparison_show(const struct comparison *c, const struct compare_options *o,
			   const struct outcome *outcomes)
{
	size_t nr = o->nr_fail_if * (c->groups->nr - 1);
	json_t *diff = facts_diff(c->groups);
	struct jsonw j = { 0 };
	bool page_failed = false;
	int err = diff ? 0 : -ENOMEM;

	if (!err && o->json) {
		comparison_document(&j, c, diff, outcomes, nr);
		err = j.failed ? -ENOMEM : 0;
		if (!err)
			fwrite(j.text, 1, j.used, stdout);
	} else if (!err) {
		comparison_text(stdout, c, diff, terminal_width(stdout));
	}
	if (!err && o->html && compare_page_write(c, diff, o))
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
static int groups_report(const struct groups *g, const struct compare_options *o,
			 const struct expression *e)
{
	struct outcome *outcomes = calloc(o->nr_fail_if * g->nr + 1, sizeof(*outcomes));
	struct comparison c = { 0 };
	bool failed = false;
	int status = EXIT_USAGE;

	if (!outcomes || groups_compare(&c, g))
		log_error("out of memory for %zu groups", g->nr);
	else if (!outcomes_evaluate(e, o, &c, outcomes, &failed) &&
		 !comparison_show(&c, o, outcomes)) {
		outcomes_report_failed(outcomes, o->nr_fail_if * (g->nr - 1), &c);
		status = failed ? EXIT_FAILED : 0;
	}
	comparison_done(&c);
	free(outcomes);
	return status;
}

static int cmd_compare(int argc, char **argv)
{
	struct expression expressions[MAX_FAIL_IF];
	struct sides all = { 0 };
	struct groups g = { 0 };
	struct compare_options o;
	int go_on = options_begin(&subcommand_compare, &o, argc, argv), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (!expressions_parse(expressions, &o) && !compare_runs_read(&all, &o) &&
	    !groups_make(&g, &all, &o))
		status = groups_report(&g, &o, expressions);
	groups_done(&g);
	sides_done(&all);
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
