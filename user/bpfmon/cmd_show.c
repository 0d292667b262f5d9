// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon show: shows a run from the store or from a file of lines. */
#include "base/memory.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/json.h"
#include "base/log.h"
#include "base/text.h"
#include "bpfmon/show_spans.h"
#include "bpfmon/subcommands.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "options/option_values.h"
#include "run/stall_state.h"
#include "run/template.h"
#include "run/tree.h"
#include "run/writer.h"
#include "store/live_source.h"
#include "store/named_run.h"
#include "store/source.h"
#include "text/curve.h"
#include "text/format.h"
#include "text/summary_tables.h"
#include "text/markdown.h"
#include "text/meta_text.h"
#include "text/runs_text.h"
#include "text/spans_text.h"
#include "text/summary_text.h"
#include "text/terminal.h"
#include "text/summary_lines.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPANS_LIMIT 20 /* names of spans that are shown by default */

struct show_options {
	struct common_options common; /* common.words: the run */
	struct store_options store;
	enum { BY_NOTHING, BY_PHASE, BY_SPAN } by;
	bool each;
	enum span_order order;
	unsigned limit; /* 0: all */
	bool has_order, has_limit, all;
	enum print_format as;
	const char *template;    /* NULL if not given */
	enum state_filter state; /* of the run; set after reading it */
};

static int show_by_parse(void *options, const char *text)
{
	static const char *const words[] = { "phase", "span" };
	struct show_options *o = options;
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	o->by = at ? BY_SPAN : BY_PHASE;
	return 0;
}

static int span_order_parse(void *options, const char *text)
{
	static const char *const words[NR_SPAN_ORDERS] = {
		[SPANS_BY_CPU] = "cpu",         [SPANS_BY_WALL] = "wall",
		[SPANS_BY_PEAK] = "peak",       [SPANS_BY_READ] = "read",
		[SPANS_BY_WRITTEN] = "written", [SPANS_BY_PROCESSES] = "processes",
		[SPANS_BY_START] = "start",     [SPANS_BY_NAME] = "name",
	};
	struct show_options *o = options;
	int at = word_find(words, NR_SPAN_ORDERS, text);

	if (at < 0)
		return at;
	o->order = (enum span_order)at;
	o->has_order = true;
	return 0;
}

static int span_limit_parse(void *options, const char *text)
{
	struct show_options *o = options;

	o->has_limit = true;
	return number_parse(text, 0, MAX_SPANS, &o->limit);
}

static int show_format_parse(void *options, const char *text)
{
	struct show_options *o = options;

	if (!text_is_template(text) && print_markdown_parse(&o->as, text))
		return value_refuse(
			"text, json, markdown, or a template, as in '%%e %%M {samples}'");
	if (!text_is_template(text))
		return 0;
	o->template = text;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct show_options, field)

static const struct option_row show_rows[] = {
	{ "by", 0, "phase|span", false, "Show the use of each phase (from mark to mark) or span", show_by_parse, 0, GUARD_NONE },
	{ "each", 0, NULL, false, "With --by: do not sum up those of the same name", flag_parse, AT(each), GUARD_NONE },
	{ "sort", 0, "ORDER", false, "Sort spans by cpu (default), wall, peak, read, start, name, ...", span_order_parse, 0, GUARD_NONE },
	{ "limit", 0, "N", false, "Show at most N names of spans; 0: all (default: 20)", span_limit_parse, 0, GUARD_NONE },
	{ "all", 0, NULL, false, "All spans, with the smallest and the largest of each name", flag_parse, AT(all), GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "text (default), json, markdown, or a template: '%e %M {samples}'", show_format_parse, 0, GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json: meta and summary in one object", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group show_groups[] = {
	{ show_rows, 0, false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ node_agent_rows, AT(store), true },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int show_parse(void *options, int argc, char **argv)
{
	const struct show_options *o = options;
	int err = options_parse(&subcommand_show, options, argc, argv);
	const char *of_spans = o->has_order   ? "--sort"
			       : o->has_limit ? "--limit"
			       : o->all       ? "--all"
					      : NULL;
	char why[TEMPLATE_WHY_BYTES];

	if (!err && of_spans && o->by != BY_SPAN)
		return options_refuse("only with --by span:", of_spans);
	if (!err && of_spans && o->as == PRINT_JSON)
		return options_refuse("--json has all spans and cannot be combined with", of_spans);
	if (!err && o->all && o->has_limit)
		return options_refuse("--all cannot be combined with", "--limit");
	if (!err && o->each && o->by == BY_NOTHING)
		return options_refuse("--by is required for", "--each");
	if (!err && o->template && o->by != BY_NOTHING)
		return options_refuse("--by cannot be combined with the template", o->template);
	if (!err && o->template && template_check(o->template, why)) {
		log_error("--format does not accept '%s': %s", o->template, why);
		return -EINVAL;
	}
	return err;
}

static void show_help(void)
{
	puts("Usage: bpfmon show [OPTIONS] [RUN]\n"
	     "\n"
	     "Shows the details of a run, its summary, and its course over time. RUN is a number "
	     "from\n"
	     "`bpfmon list`, a name (its last run; align~1: the one before), the beginning of a "
	     "UUID,\n"
	     "or a file of JSON Lines, which may be truncated (-: stdin). The default is the last\n"
	     "run; ~1 is the one before.\n");
	options_print(&subcommand_show);
	puts("Exit status: 0: success, 2: usage error, or no such run.");
}

static int meta_keep(void *context, struct line *l)
{
	json_t **meta = context;

	*meta = json_incref(l->tree);
	return 1; /* stop: the only line needed */
}

static int run_show_table(enum print_format as, const json_t *meta, const char *table)
{
	if (!table)
		return -ENOMEM;
	if (as == PRINT_MARKDOWN) {
		meta_markdown(stdout, meta);
		fputs(table, stdout);
		return 0;
	}
	meta_text(stdout, meta, table_width(stdout));
	printf("\n%s", table);
	return 0;
}

/* Returns 0 for Markdown, which has no width. */
static size_t show_width(const struct show_options *o)
{
	return o->as == PRINT_MARKDOWN ? 0 : table_width(stdout);
}

static int run_show_phases(const struct show_options *o, const struct phases *p, const json_t *meta)
{
	__cleanup(freep) char *text = phases_text(p, o->each, show_width(o));

	return run_show_table(o->as, meta, text);
}

/*
 * Prints the meta and summary lines as one object, with the @state of the run as in lists, and the
 * members @more, which may be NULL.
 */
static int run_show_json(const json_t *meta, const struct summary *total, const char *state,
			 const struct jsonw *more)
{
	struct jsonw first = { 0 }, j = { 0 };
	int err;

	tree_write(&first, NULL, meta);
	write_summary(&j, total);
	err = first.failed || j.failed || (more && more->failed) ? -ENOMEM : 0;
	if (!err) {
		printf("{\"schema\":\"bpfmon-show/"
		       "1\",\"state\":\"%s\",\"meta\":%s,\"summary\":%.*s",
		       state, first.text, (int)(j.used - 1), j.text);
		if (more)
			printf(",%s", more->text);
		puts("}");
	}
	jsonw_done(&first);
	jsonw_done(&j);
	return err;
}

static int run_show_phases_json(const struct show_options *o, const struct phases *p,
				const json_t *meta, const struct summary *total)
{
	struct jsonw j = { 0 };
	int err;

	phases_json(&j, p);
	err = phase_sums_json(&j, p);
	if (!err)
		err = run_show_json(meta, total, run_state_word(o->state), &j);
	jsonw_done(&j);
	return err;
}

static int run_show_by_phase(struct source *s, const struct show_options *o, const json_t *meta,
			     const struct summary *total)
{
	struct phases p = { 0 };
	int err = phases_read(&p, s, total->wall_ns);

	if (!err)
		err = o->as == PRINT_JSON ? run_show_phases_json(o, &p, meta, total)
					  : run_show_phases(o, &p, meta);
	if (!err && p.left_out)
		log_warn("%" PRIu64 " marks are left out: too many", p.left_out);
	phases_done(&p);
	return err;
}

static int run_show_spans_json(struct source *s, const struct show_options *o, const json_t *meta,
			       const struct summary *total, const struct spans_shown *shown)
{
	struct jsonw j = { 0 };
	int err = 0;

	if (o->each)
		err = spans_json_each(&j, s);
	else
		spans_json(&j, shown, total);
	if (!err)
		err = run_show_json(meta, total, run_state_word(o->state), &j);
	jsonw_done(&j);
	return err;
}

static int run_show_spans(const struct show_options *o, const json_t *meta,
			  const struct summary *total, struct spans_shown *shown)
{
	unsigned most = o->all ? 0 : o->has_limit ? o->limit : SPANS_LIMIT;
	ssize_t nr_hidden = span_paths_sort(&shown->paths, &shown->sums, o->order, most);
	const struct spans_view view = {
		.is_each = o->each,
		.has_spread = o->all,
		.is_markdown = o->as == PRINT_MARKDOWN,
		.width = terminal_limit(stdout),
		.nr_hidden = (uint64_t)nr_hidden,
	};
	__cleanup(freep) char *text =
		nr_hidden < 0 ? NULL : spans_text(&shown->paths, &shown->sums, total, &view);

	return run_show_table(o->as, meta, text);
}

static int run_show_by_span(struct source *s, const struct show_options *o, const json_t *meta,
			    const struct summary *total)
{
	struct spans_shown shown;
	int err = spans_shown_read(&shown, s, o->each);

	if (!err)
		err = o->as == PRINT_JSON ? run_show_spans_json(s, o, meta, total, &shown)
					  : run_show_spans(o, meta, total, &shown);
	if (!err && shown.paths.left_out)
		log_warn("%" PRIu64 " spans are left out: too many", shown.paths.left_out);
	spans_shown_done(&shown);
	return err;
}

static int run_show_template(const char *template, const json_t *meta, const struct summary *total)
{
	struct buffer b = { 0 };
	int err = template_write(&b, template, total, json_object_get(meta, "command"));

	if (!err)
		fwrite(b.text, 1, b.used, stdout);
	buffer_done(&b);
	return err;
}

static int run_show_markdown(const json_t *meta, const struct summary *total,
			     const struct summary_view *view)
{
	meta_markdown(stdout, meta);
	answer_memory_markdown(stdout, view->answer);
	summary_markdown(stdout, total, view);
	return 0;
}

static int stall_take_line(void *context, struct line *l)
{
	stall_state_update(context, l->tree);
	return 0;
}

/*
 * Prints since when, and why, the running @s is stalled; nothing if it is not. Returns 0 or a
 * negative errno.
 */
static int run_show_stall(struct source *s)
{
	struct stall_state last = { 0 };
	int err = source_each(s, PART(LINE_EVENT), stall_take_line, &last);
	uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	char for_s[FORMAT_BYTES];

	if (err || !last.is_stalled)
		return err;
	text_disarm(last.reason);
	printf("\n  stalled     nothing was done for %s%s%s\n",
	       format_seconds(for_s,
			      now_ns > last.since_epoch_ns ? now_ns - last.since_epoch_ns : 0),
	       *last.reason ? ": " : "", last.reason);
	return 0;
}

#define SHOWN 10

/* The processes with the most memory, and the number of all. */
struct live_heaviest {
	struct process_sample rows[SHOWN]; /* the heaviest first */
	size_t nr_rows;
	uint64_t nr;
};

/* False if equal: the later process then stays behind. */
static bool process_is_heavier(const struct process_sample *a, const struct process_sample *b)
{
	if (a->value[M_rss] != b->value[M_rss])
		return a->value[M_rss] > b->value[M_rss];
	return a->value[M_cpu] > b->value[M_cpu];
}

static int heaviest_take(void *context, const struct process_sample *p)
{
	struct live_heaviest *k = context;
	size_t at = k->nr_rows;

	while (at > 0 && process_is_heavier(p, &k->rows[at - 1]))
		at--;
	k->nr++;
	if (at == SHOWN)
		return 0;
	if (k->nr_rows < SHOWN)
		k->nr_rows++;
	memmove(&k->rows[at + 1], &k->rows[at], (k->nr_rows - 1 - at) * sizeof(*k->rows));
	k->rows[at] = *p;
	k->rows[at].exe = NULL; /* belongs to the line */
	return 0;
}

static void heaviest_print(const struct live_heaviest *k)
{
	char n[FORMAT_BYTES], at[FORMAT_BYTES];

	printf("\n  alive       %s process%s", format_count(n, k->nr), k->nr == 1 ? "" : "es");
	if (k->nr_rows)
		printf(" at %s", format_seconds(at, k->rows[0].elapsed_ns));
	if (k->nr > k->nr_rows)
		printf("; the %zu with the most memory:", k->nr_rows);
	putchar('\n');
	heaviest_text(stdout, "alive", k->rows, k->nr_rows);
}

/*
 * Prints the number of processes and those with the most memory; if the feed that @meta names
 * cannot be reached, the reason. Returns 0 or -ENOMEM.
 */
static int run_show_live(const json_t *meta)
{
	const char *feed = json_string_value(json_object_get(meta, "live_socket"));
	struct live_heaviest *k = memory_calloc(1, sizeof(*k)); /* too large for the stack */
	char why[256];
	int err = k ? live_read_processes(feed, heaviest_take, k, NULL, why, sizeof(why)) : -ENOMEM;

	if (!err)
		heaviest_print(k);
	else if (err != -ENOMEM)
		printf("\n  alive       unknown: %s\n", why);
	free(k);
	return err == -ENOMEM ? err : 0;
}

static int curves_add_line(void *context, struct line *l)
{
	curves_add(context, &l->sample);
	return 0;
}

static int run_draw_curves(struct source *s, uint64_t wall_ns)
{
	struct metric_set needed;
	struct curves c;
	int err;

	curves_init(&c, wall_ns, terminal_width(stdout));
	curves_metrics(&needed);
	s->only = &needed;
	s->is_coarse = true;
	err = source_each(s, PART(LINE_SAMPLE), curves_add_line, &c);
	s->only = NULL;
	s->is_coarse = false;
	if (!err)
		curves_draw(&c, stdout, terminal_is_utf8());
	return err;
}

#define HEAVIEST_SHOWN 5
#define SAME_NS 1000 /* tolerance: seconds in JSON are doubles, and large ones are rounded */

struct heaviest_rows {
	struct process_sample rows[HEAVIEST_SHOWN];
	size_t nr;
};

static int heaviest_add_line(void *context, struct line *l)
{
	struct heaviest_rows *h = context;

	h->rows[h->nr++] = l->process_sample;
	return h->nr == HEAVIEST_SHOWN;
}

/* Prints the processes with the most memory at the largest sample, if recorded. */
static int run_show_heaviest(struct source *s, const struct summary *total)
{
	struct heaviest_rows h = { 0 };
	uint64_t at_ns = total->rss_peak_elapsed_ns;
	int err;

	if (!total->has_rss_peak)
		return 0;
	s->from_ns = at_ns > SAME_NS ? at_ns - SAME_NS : 0;
	s->to_ns = at_ns + SAME_NS;
	err = source_each(s, PART(LINE_PROCESS_SAMPLE), heaviest_add_line, &h);
	s->from_ns = s->to_ns = 0;
	if (err >= 0)
		heaviest_text(stdout, "at the peak", h.rows, h.nr);
	return err < 0 ? err : 0;
}

static int run_show_text(struct source *s, const json_t *meta, const struct summary *total,
			 const struct summary_view *view)
{
	__cleanup(freep) char *text =
		terminal_paint(summary_text(total, view, terminal_limit(stdout)), stdout);
	int err;

	if (!text)
		return -ENOMEM;
	meta_text(stdout, meta, table_width(stdout));
	fputs(text, stdout);
	err = view->is_running ? run_show_stall(s) : run_show_heaviest(s, total);
	if (!err && view->is_running)
		err = run_show_live(meta);
	return err ? err : run_draw_curves(s, total->wall_ns);
}

/* Prints the whole run; reads its events first, for the answer. */
static int run_show_answer(struct source *s, const struct show_options *o, const json_t *meta,
			   const struct summary *total)
{
	struct phase_times times = { 0 };
	struct longest_span spans = { 0 };
	struct stalls stalls = { 0 };
	int err = events_read(s, &times, &stalls);
	struct jsonw j = { 0 };
	struct answer answer;
	const struct summary_view view = { .answer = &answer,
					   .spans = &spans,
					   .run = o->common.words[0],
					   .is_running = o->state == ONLY_RUNNING,
					   .is_of_job = meta_is_of_job(meta),
					   .has_bounds = true,
					   .has_styles = true };

	answer_of_run(&answer, total, meta, &times, &stalls);
	if (view.is_running)
		answer_of_running(&answer);
	if (!err && o->as != PRINT_JSON)
		err = spans_read_longest(s, &spans);
	answer_json(&j, &answer);
	time_json(&j, &total->total);
	if (!err && o->as == PRINT_JSON)
		err = run_show_json(meta, total, run_state_word(o->state), &j);
	else if (!err && o->as == PRINT_MARKDOWN)
		err = run_show_markdown(meta, total, &view);
	else if (!err)
		err = run_show_text(s, meta, total, &view);
	jsonw_done(&j);
	phase_times_done(&times);
	return err;
}

static int run_show_whole(struct source *s, const struct show_options *o, const json_t *meta,
			  const struct summary *total)
{
	return o->template ? run_show_template(o->template, meta, total)
			   : run_show_answer(s, o, meta, total);
}

/* Prints @s, the run that the options name. Returns 0 or a negative errno for source_why(). */
static int run_show(struct source *s, struct show_options *o)
{
	struct summary total = { 0 };
	json_t *meta = NULL;
	uint64_t unreadable;
	bool is_folded;
	int err = source_each(s, PART(LINE_META), meta_keep, &meta);

	if (err >= 0)
		err = source_summary(s, &total, &is_folded);
	unreadable = s->unreadable;
	if (!err) /* the run may have ended meanwhile */
		o->state = summary_state(&total, !is_folded, s->is_running);
	if (!err)
		err = o->by == BY_PHASE  ? run_show_by_phase(s, o, meta, &total)
		      : o->by == BY_SPAN ? run_show_by_span(s, o, meta, &total)
					 : run_show_whole(s, o, meta, &total);
	if (!err && unreadable)
		log_warn("%" PRIu64 " lines of '%s' are invalid and were skipped", unreadable,
			 o->common.words[0]);
	summary_done(&total);
	json_decref(meta);
	return err;
}

static int cmd_show(int argc, char **argv)
{
	char label[RUN_LABEL_BYTES];
	static struct source s; /* too large for the stack */
	struct show_options o;
	int go_on = options_begin(&subcommand_show, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (named_run_open(&s, &o.store, o.common.words[0], label))
		return EXIT_USAGE;
	o.common.words = (char *[]){ label, NULL };
	err = run_show(&s, &o);
	if (err)
		log_error("cannot show '%s': %s", o.common.words[0], source_why(&s, err));
	source_close(&s);
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_show = {
	.name = "show",
	.aliases = "info summary stat",
	.summary = "show a run",
	.part = PART_READS,
	.words = { .most = 1, .offer = completion_offer_runs },
	.run = cmd_show,
	.groups = show_groups,
	.options_bytes = sizeof(struct show_options),
	.parse = show_parse,
	.help = show_help,
};
