// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon show: a run again, from the store or from a file of lines. */
#include "cmd/common_options.h"
#include "cmd/named_run.h"
#include "cmd/option_values.h"
#include "cmd/show_phases.h"
#include "cmd/show_spans.h"

#include "base/cleanup.h"
#include "base/log.h"
#include "view/curve.h"
#include "view/heaviest_text.h"
#include "view/meta_text.h"
#include "view/phases_text.h"
#include "view/spans_text.h"
#include "view/summary_text.h"
#include "view/terminal.h"
#include "wire/tree.h"
#include "wire/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEAVIEST_SHOWN 5
#define SAME_NS 1000 /* seconds in JSON are doubles: large ones come back rounded */

struct show_options {
	struct common_options common; /* its word: the run */
	struct store_options store;
	enum { BY_NOTHING, BY_PHASE, BY_SPAN } by;
	bool each, json;
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

/* clang-format off */
#define AT(field) offsetof(struct show_options, field)

static const struct option_row show_rows[] = {
	{ "by", 0, "phase|span", false, "What each phase, from mark to mark, or each span used", show_by_parse, 0, GUARD_NONE },
	{ "each", 0, NULL, false, "With --by span: each one, those of the same name not summed", flag_parse, AT(each), GUARD_NONE },
	{ "json", 0, NULL, false, "One JSON object: the lines of kind meta and summary", flag_parse, AT(json), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group show_groups[] = {
	{ show_rows, 0, false },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int show_parse(void *options, int argc, char **argv)
{
	const struct show_options *o = options;
	int err = options_parse(&subcommand_show, options, argc, argv);

	if (!err && o->each && o->by != BY_SPAN)
		return options_refuse("without --by span there is no", "--each");
	return err ? err : words_check_run(options);
}

static void show_help(void)
{
	puts("Usage: bpfmon show [OPTIONS] RUN\n\n"
	     "Shows a run again: what it was, its summary, and how it went over time. RUN is a\n"
	     "number of `bpfmon list`, a name, the beginning of the run's UUID, or a file: JSON\n"
	     "Lines, whole or cut off (-: stdin).\n");
	options_print(&subcommand_show);
	puts("Exit status: 0; 2 usage, no such run, or several of that name.");
}

static int meta_keep(void *context, struct line *l)
{
	json_t **meta = context;

	*meta = json_incref(l->tree);
	return 1; /* that was all */
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

/* The processes with the most memory at the largest sample, if they were recorded. */
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
		heaviest_text(stdout, h.rows, h.nr);
	return err < 0 ? err : 0;
}

static int run_show_text(struct source *s, const json_t *meta, const struct summary *total)
{
	__cleanup(freep) char *text = summary_text(total, terminal_limit(stdout));
	int err;

	if (!text)
		return -ENOMEM;
	meta_text(stdout, meta, terminal_width(stdout));
	fputs(text, stdout);
	err = run_show_heaviest(s, total);
	return err ? err : run_draw_curves(s, total->wall_ns);
}

static int run_show_phases(const struct phases *p, const json_t *meta)
{
	__cleanup(freep) char *text = phases_text(p, terminal_width(stdout));

	if (!text)
		return -ENOMEM;
	meta_text(stdout, meta, terminal_width(stdout));
	printf("\n%s", text);
	return 0;
}

/* The lines of kind meta and summary as one object, with the members @more, unless that is NULL. */
static int run_show_json(const json_t *meta, const struct summary *total, const struct jsonw *more)
{
	struct jsonw first = { 0 }, j = { 0 };
	int err;

	tree_write(&first, NULL, meta);
	write_summary(&j, total);
	err = first.failed || j.failed || (more && more->failed) ? -ENOMEM : 0;
	if (!err) {
		printf("{\"meta\":%s,\"summary\":%.*s", first.text, (int)(j.used - 1), j.text);
		if (more)
			printf(",%s", more->text);
		puts("}");
	}
	jsonw_done(&first);
	jsonw_done(&j);
	return err;
}

static int run_show_phases_json(const struct phases *p, const json_t *meta,
				const struct summary *total)
{
	struct jsonw j = { 0 };
	int err;

	phases_json(&j, p);
	err = run_show_json(meta, total, &j);
	jsonw_done(&j);
	return err;
}

static int run_show_by_phase(struct source *s, const struct show_options *o, const json_t *meta,
			     const struct summary *total)
{
	struct phases p = { 0 };
	int err = phases_read(&p, s, total->wall_ns);

	if (!err)
		err = o->json ? run_show_phases_json(&p, meta, total) : run_show_phases(&p, meta);
	if (!err && p.left_out)
		log_warn("%" PRIu64 " marks are left out: they are too many", p.left_out);
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
		err = run_show_json(meta, total, &j);
	jsonw_done(&j);
	return err;
}

static int run_show_spans(const struct show_options *o, const json_t *meta,
			  const struct summary *total, const struct spans_shown *shown)
{
	size_t width = terminal_width(stdout);
	__cleanup(freep) char *text =
		spans_text(&shown->paths, &shown->sums, total, o->each, width);

	if (!text)
		return -ENOMEM;
	meta_text(stdout, meta, width);
	printf("\n%s", text);
	return 0;
}

static int run_show_by_span(struct source *s, const struct show_options *o, const json_t *meta,
			    const struct summary *total)
{
	struct spans_shown shown;
	int err = spans_shown_read(&shown, s, o->each);

	if (!err)
		err = o->json ? run_show_spans_json(s, o, meta, total, &shown)
			      : run_show_spans(o, meta, total, &shown);
	if (!err && shown.paths.left_out)
		log_warn("%" PRIu64 " spans are left out: they are too many", shown.paths.left_out);
	spans_shown_done(&shown);
	return err;
}

static int run_show(struct source *s, const struct show_options *o)
{
	struct summary total = { 0 };
	json_t *meta = NULL;
	uint64_t unreadable;
	bool is_folded;
	int err = source_each(s, PART(LINE_META), meta_keep, &meta);

	if (err >= 0)
		err = source_summary(s, &total, &is_folded);
	unreadable = s->unreadable;
	if (!err)
		err = o->by == BY_PHASE  ? run_show_by_phase(s, o, meta, &total)
		      : o->by == BY_SPAN ? run_show_by_span(s, o, meta, &total)
		      : o->json          ? run_show_json(meta, &total, NULL)
					 : run_show_text(s, meta, &total);
	if (!err && unreadable)
		log_warn("%" PRIu64 " lines of '%s' cannot be read and were left out", unreadable,
			 o->common.words[0]);
	summary_done(&total);
	json_decref(meta);
	return err;
}

static int cmd_show(int argc, char **argv)
{
	struct source s;
	struct show_options o;
	int go_on = options_begin(&subcommand_show, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (named_run_open(&s, o.store.path, o.common.words[0], NULL))
		return EXIT_USAGE;
	err = run_show(&s, &o);
	if (err)
		log_error("cannot show '%s': %s", o.common.words[0], source_why(&s, err));
	source_close(&s);
	if (err)
		return EXIT_USAGE;
	if (fflush(stdout) || ferror(stdout))
		log_error("cannot write to stdout");
	else
		return 0;
	return EXIT_USAGE;
}

const struct subcommand subcommand_show = {
	.name = "show",
	.summary = "one of them again",
	.part = PART_READS,
	.run = cmd_show,
	.groups = show_groups,
	.options_bytes = sizeof(struct show_options),
	.parse = show_parse,
	.help = show_help,
};
