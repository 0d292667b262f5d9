// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon compare [OPTIONS] RUN RUN...: compares runs, value by value. */
#include "bpfmon/cmd_compare.h"

#include "base/exit_status.h"
#include "base/cleanup.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/progress.h"
#include "store/named_run.h"
#include "store/stores.h"
#include "options/option_values.h"
#include "bpfmon/whole_file.h"
#include "study/compare.h"
#include "study/compare_document.h"
#include "study/diff.h"
#include "study/step.h"
#include "study/compare_text.h"
#include "page/overlay.h"
#include "page/page.h"
#include "text/format.h"
#include "text/terminal.h"
#include "options/completion.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STEPS_SHOWN 500 /* phases, programs or spans, to bound the page of --html */

static size_t groups_count_runs(const struct groups *g)
{
	size_t n = 0;

	for (size_t i = 0; i < g->nr; i++)
		for (size_t k = 0; k < g->list[i].nr; k++)
			n += g->list[i].sides[k]->is_run;
	return n;
}

static int page_add_run(struct overlay *curves, const struct side *s, size_t group,
			const struct store_options *store)
{
	struct source src;
	int err = named_run_open(&src, store, s->name, NULL);

	if (err)
		return err; /* already reported */
	err = overlay_add(curves, s->name, group, &src);
	if (err)
		log_error("cannot draw '%s': %s", s->name, source_why(&src, err));
	source_close(&src);
	return err;
}

/* Adds the first run of each group, then the second of each, while there is room. */
static int page_add_runs(struct overlay *curves, const struct groups *g,
			 const struct store_options *store)
{
	size_t groups = g->nr < OVERLAY_GROUPS ? g->nr : OVERLAY_GROUPS;
	int err = 0;

	for (size_t k = 0; k < g->most_sides; k++)
		for (size_t i = 0; i < groups; i++)
			if (!err && curves->nr < OVERLAY_RUNS && k < g->list[i].nr &&
			    g->list[i].sides[k]->is_run)
				err = page_add_run(curves, g->list[i].sides[k], i, store);
	return err;
}

static int page_render(const struct overlay *curves, const struct comparison *c,
		       const struct steps *steps, const json_t *diff, char **page, size_t *length)
{
	size_t left_out = groups_count_runs(c->groups) - curves->nr;
	struct jsonw data = { 0 }, document = { 0 }, brief = { 0 };
	FILE *f = memory_open_memstream(page, length);
	int err = f ? 0 : -ENOMEM;

	comparison_document(&document, c, NULL, NULL, diff, NULL, 0);
	if (steps)
		comparison_steps_brief(&brief, steps, STEPS_SHOWN);
	if (!err)
		err = overlay_write(curves, &document, steps ? &brief : NULL, left_out, &data);
	if (!err)
		err = page_write_overlay(f, &data);
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	jsonw_done(&document);
	jsonw_done(&brief);
	jsonw_done(&data);
	if (err)
		log_error("cannot make the page of the comparison: %s", strerror(-err));
	return err;
}

/*
 * Writes the page of --html, with the curves of several runs in the same charts. @steps is NULL
 * without --by phase, program or span. Returns 0, or a negative errno after a message.
 */
static int compare_page_write(const struct comparison *c, const struct steps *steps,
			      const json_t *diff, const struct compare_options *o)
{
	struct overlay *curves = memory_calloc(1, sizeof(*curves));
	char *page = NULL;
	size_t length = 0;
	int err;

	if (!curves) {
		log_error("out of memory for the page of the comparison");
		return -ENOMEM;
	}
	curves->room = groups_count_runs(c->groups);
	err = page_add_runs(curves, c->groups, &o->store);
	if (!err)
		err = page_render(curves, c, steps, diff, &page, &length);
	if (!err)
		err = whole_file_write("page", o->html, o->force, page, length);
	overlay_done(curves);
	free(curves);
	free(page);
	return err;
}

#define EXIT_FAILED 1
#define TAGS "tags."

/* Both may be given: groups of runs, step by step. */
int compare_by_parse(void *options, const char *text)
{
	struct compare_options *o = options;

	static const char *const words[NR_STEP_KINDS] = { STEP_WORDS };
	int kind = word_find(words, NR_STEP_KINDS, text);

	if (kind < 0) /* a tag with the name of a step is written as it is displayed, tags.NAME */
		return text_parse(&o->by, strncmp(text, TAGS, strlen(TAGS)) != 0
						  ? text
						  : text + strlen(TAGS));
	o->by_step = true;
	o->steps = (enum step_kind)kind;
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
	{ "by", 0, "TAG|PART", false, "Compare groups of runs by this tag; or by phase, program, span", compare_by_parse, 0, PROJECT_MAY },
	{ "all", 0, NULL, false, "All values, not only the five that differ most", flag_parse, AT(all), PROJECT_MAY },
	{ "baseline", 0, "VALUE", false, "Compare with the group that has this value of the tag", baseline_parse, AT(baseline), PROJECT_MAY },
	{ "fail-if", 0, "EXPRESSION", false, "Exit 1 if it holds: 'rss_peak_bytes > +10%'; may be repeated", fail_if_parse, AT(fail_if), PROJECT_MAY },
	{ "significant", 0, NULL, false, "Exit 2 if the runs are too few to tell a change from noise", flag_parse, AT(significant), PROJECT_MAY },
	{ "html", 0, "PATH", false, "Draw the runs' curves over each other, as a page for a browser", text_parse, AT(html), GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "text (default), json, markdown (for a pull request), or csv", print_any_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "The same as --format json: one document", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group compare_groups[] = {
	{ force_rows, AT(force), false },
	{ filter_rows, AT(filter), false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ node_agent_rows, AT(store), true },
	{ compare_rows, 0, false },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int compare_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_compare, options, argc, argv);
}

static void compare_help(void)
{
	puts("Usage: bpfmon compare [OPTIONS] RUN RUN...\n"
	     "       bpfmon compare [OPTIONS] NAME\n"
	     "       bpfmon compare [OPTIONS] --by TAG [RUN...]\n\n"
	     "Compare runs with the first one, or groups of runs with the first group. RUN is a\n"
	     "number of `bpfmon list`, a name (its last run; align~1, align~all), a file written\n"
	     "by -o run.jsonl, a JSON file of prmon, or the output of GNU time -v. A NAME alone\n"
	     "compares its last run with all runs before it. Without RUN, the runs of the store\n"
	     "that have ended and pass --name and the other filters are compared; with --by\n"
	     "alone, all of them. --by phase, program or span compares what each of these used,\n"
	     "by its name, and EXPRESSION is checked for each of them; --by TAG may be added.\n");
	options_print(&subcommand_compare);
	puts("\nEXPRESSION is KEY OP VALUE; OP is > < >= <=; VALUE is a difference with its sign\n"
	     "(+10%, -5%, +20MiB, +500ms), or the value itself without one (2GiB, 30s, 0).\n"
	     "If there are enough runs, a difference that may be noise passes. With too few runs "
	     "to\n"
	     "tell, any difference beyond VALUE fails; with --significant that is an error (exit "
	     "2).\n\n"
	     "Exit status: 0; 1 an expression of --fail-if holds; 2 usage, not found, no run.");
}

static int sides_add_peer_file(struct sides *all, const char *name)
{
	int err = sides_add_peer(all, name);
	const char *why = source_error(err);

	if (err == -EMLINK)
		why = "it has the output of several runs of GNU time; put each into a file of its "
		      "own";
	else if (err == -EBADMSG)
		why = "it is neither a run of bpfmon (-o run.jsonl), nor prmon's JSON, nor a block "
		      "of GNU time -v";
	if (err)
		log_error("cannot compare '%s': %s", name, why);
	return err;
}

/* A file with several blocks of GNU time counts as a peer's, though it cannot be compared. */
static bool path_is_peer(const char *path)
{
	struct sides one = { 0 };
	int err = sides_add_peer(&one, path);

	sides_done(&one);
	return !err || err == -EMLINK;
}

/* @steps is NULL if they are not compared. */
static int sides_add_source(struct sides *all, struct steps *steps, const char *name,
			    struct source *src)
{
	int err = sides_add_run(all, name, src);

	return err || !steps ? err : steps_add_run(steps, all->nr - 1, src);
}

static int sides_add_named(struct sides *all, struct steps *steps, const struct named_runs *runs,
			   size_t i, struct source *src)
{
	const char *name = runs->list[i].label;
	bool is_other;
	int err = named_runs_open(runs, i, src);

	if (err)
		return err; /* already reported */
	err = sides_add_source(all, steps, name, src);
	is_other = err == -EBADMSG && strcmp(name, "-") != 0;
	if (err && !is_other)
		log_error("cannot compare '%s': %s", name, source_why(src, err));
	return is_other ? sides_add_peer_file(all, name) : err;
}

static int sides_add_stored(struct sides *all, struct steps *steps, const struct stores *stores,
			    const struct stored_run *r, struct source *src)
{
	char name[300];
	int err = stores_switch_run(stores, r, src);

	if (err)
		return err; /* already reported */
	snprintf(name, sizeof(name), "%s%" PRId64, stores->prefix[r->source], r->id);
	err = sides_add_source(all, steps, name, src);
	if (err)
		log_error("cannot compare run %s: %s", name, source_why(src, err));
	return err;
}

/* The oldest comes first: the others are compared with it. */
static int sides_add_filtered(struct sides *all, struct steps *steps,
			      const struct compare_options *o)
{
	struct run_filter f = filter_get(&o->filter);
	struct stored_runs found = { 0 };
	struct source src = { 0 };
	struct stores stores;
	int err = stores_find(&stores, &o->store);

	if (err)
		return err;
	if (f.state == ANY_STATE)
		f.state = ONLY_FINISHED;
	err = stores_query(&stores, &f, &found);
	stored_runs_sort(&found, BY_START);
	for (size_t i = found.nr; !err && i-- > 0;)
		err = sides_add_stored(all, steps, &stores, &found.runs[i], &src);
	source_close(&src);
	if (!err && found.nr < 2) {
		log_error("%zu run%s in the store match%s the filters, but a comparison needs two; "
			  "see '%s' with the same filters",
			  found.nr, found.nr == 1 ? "" : "s", found.nr == 1 ? "es" : "",
			  stores_list_command(o->store.of_node));
		err = -ENOENT;
	}
	stored_runs_done(&found);
	stores_done(&stores);
	return err;
}

/* A single name means its last run, against all before it. */
static int sides_add_all_named(struct sides *all, struct steps *steps,
			       const struct compare_options *o, bool *has_history)
{
	const struct run_word_rules rules = { .takes_many = true,
					      .has_history =
						      o->common.words[1] ? NULL : has_history,
					      .only_ended = true };
	struct source src = { 0 };
	struct named_runs runs;
	int err = named_runs_find(&runs, &o->store, o->common.words, &rules, path_is_peer);

	if (!err && runs.nr == 1) {
		log_error("a comparison needs two runs, and '%s' is only one; name another, or a "
			  "name that several runs have",
			  o->common.words[0]);
		err = -ENOENT;
	}
	for (size_t i = 0; !err && i < runs.nr; i++)
		err = sides_add_named(all, steps, &runs, i, &src);
	source_close(&src);
	named_runs_done(&runs);
	return err;
}

/*
 * Reads the runs to compare: the named ones, else those of the store that match the filters, or all
 * runs if only a tag to group by is given. With --by span also reads their steps. *@has_history is
 * set if they are all runs of a name, the last of which is to be judged. Returns 0, or a negative
 * errno after a message to the user.
 */
static int compare_runs_read(struct sides *all, struct steps *steps,
			     const struct compare_options *o, bool *has_history)
{
	struct steps *wanted = o->by_step ? steps : NULL;

	steps->kind = o->steps;
	if (*o->common.words)
		return sides_add_all_named(all, wanted, o, has_history);
	return o->by || filter_is_given(&o->filter) ? sides_add_filtered(all, wanted, o) : 0;
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
		log_error("a comparison needs two runs; try: bpfmon compare before.jsonl "
			  "after.jsonl, or the name of several runs");
	return -EINVAL;
}

static int groups_make(struct groups *g, const struct sides *all, const struct compare_options *o,
		       bool has_history)
{
	const struct side *without = NULL;
	int err;

	if (o->by)
		err = groups_by_tag(g, all, o->by, &without);
	else
		err = has_history && all->nr > 2 ? groups_of_history(g, all) : groups_each(g, all);
	if (!err && o->by)
		groups_sort(g, !*o->common.words);

	if (err == -ENOENT && without) {
		log_error("run '%s' has no tag '%s' to group it by", without->name, o->by);
	} else if (err) {
		log_error("out of memory for %zu runs", all->nr);
	} else if (o->baseline && groups_baseline(g, o->baseline)) {
		log_error("--baseline: no run has '%s' as %s", o->baseline,
			  o->by ? o->by : "its name");
		err = -ENOENT;
	}
	return err ? err : groups_check(g, o);
}

struct compared {
	struct sides runs;
	struct steps steps;
	struct groups groups;
	struct comparison comparison;
	struct gates gates;
};

static void compared_print(const struct compared *x, const struct compare_options *o,
			   const json_t *diff)
{
	size_t keys[MAX_FAIL_IF], width = terminal_width(stdout);

	for (size_t i = 0; i < o->fail_if.nr; i++)
		keys[i] = x->gates.expressions[i].key;
	if (o->as == PRINT_MARKDOWN) {
		gates_markdown(stdout, &x->gates, &x->comparison);
		comparison_markdown(stdout, &x->comparison, o->by_step ? &x->steps : NULL, keys,
				    o->fail_if.nr, diff);
	} else if (o->by_step)
		steps_text(stdout, &x->steps, &x->comparison, diff, keys, o->fail_if.nr, width);
	else
		comparison_text_of(stdout, &x->comparison, diff,
				   &(struct row_choice){ o->all, keys, o->fail_if.nr }, width);
}

static int compared_print_json(const struct compared *x, const struct compare_options *o,
			       const json_t *diff)
{
	struct jsonw j = { 0 };

	comparison_document(&j, &x->comparison, o->by_step ? &x->steps : NULL, &x->runs, diff,
			    x->gates.list, x->gates.nr);
	return jsonw_print(&j, stdout);
}

static int compared_print_csv(const struct compared *x, const struct compare_options *o)
{
	struct buffer t = { 0 };
	int err;

	comparison_csv(&t, &x->comparison, o->by_step ? &x->steps : NULL);
	err = t.failed ? -ENOMEM : 0;
	if (!err)
		fwrite(t.text, 1, t.used, stdout);
	buffer_done(&t);
	return err;
}

static int compared_show(const struct compared *x, const struct compare_options *o)
{
	json_t *diff = facts_diff(&x->groups);
	bool page_failed = false;
	int err = diff ? 0 : -ENOMEM;

	if (!err && o->as == PRINT_JSON)
		err = compared_print_json(x, o, diff);
	else if (!err && o->as == PRINT_CSV)
		err = compared_print_csv(x, o);
	else if (!err)
		compared_print(x, o, diff);
	if (!err && o->html &&
	    compare_page_write(&x->comparison, o->by_step ? &x->steps : NULL, diff, o))
		page_failed = true;
	json_decref(diff);
	if (err)
		log_error("cannot write the comparison to stdout: %s", strerror(-err));
	return page_failed ? -EIO : err; /* already reported */
}

/* Returns the exit status. */
static int compared_report(struct compared *x, const struct compare_options *o)
{
	const struct steps *steps = o->by_step ? &x->steps : NULL;

	if (groups_compare(&x->comparison, &x->groups) ||
	    (steps && steps_compare(&x->steps, &x->groups, &x->runs))) {
		log_error("out of memory for %zu groups", x->groups.nr);
		return EXIT_USAGE;
	}
	if (gates_evaluate(&x->gates, &x->comparison, steps, o->significant, 1) ||
	    compared_show(x, o))
		return EXIT_USAGE;
	if (x->steps.left_out)
		log_warn("%" PRIu64 " %s are left out: there are too many different names",
			 x->steps.left_out, step_kind_names(o->steps));
	gates_report(&x->gates, &x->comparison);
	return x->gates.has_failed ? EXIT_FAILED : 0;
}

static int cmd_compare(int argc, char **argv)
{
	struct compared x = { 0 };
	struct compare_options o;
	int go_on = options_begin(&subcommand_compare, &o, argc, argv), status = EXIT_USAGE;
	bool err, has_history = false;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	progress_begin("reading runs", "lines", 0);
	err = gates_parse(&x.gates, &o.fail_if) ||
	      compare_runs_read(&x.runs, &x.steps, &o, &has_history);
	progress_end();
	if (!err && !groups_make(&x.groups, &x.runs, &o, has_history))
		status = compared_report(&x, &o);
	gates_done(&x.gates);
	comparison_done(&x.comparison);
	groups_done(&x.groups);
	steps_done(&x.steps);
	sides_done(&x.runs);
	return status;
}

const struct subcommand subcommand_compare = {
	.name = "compare",
	.aliases = "diff",
	.summary = "compare runs with each other",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = completion_offer_runs },
	.run = cmd_compare,
	.groups = compare_groups,
	.options_bytes = sizeof(struct compare_options),
	.parse = compare_parse,
	.help = compare_help,
};
