// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon like RUN: the known runs that it is most like. */
#include "cmd/common_options.h"
#include "cmd/filter_options.h"
#include "cmd/like_runs.h"
#include "cmd/named_run.h"
#include "cmd/option_values.h"
#include "cmd/print_format.h"

#include "base/log.h"
#include "like/show.h"
#include "source/signed_run.h"
#include "view/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_NEIGHBOURS 5

struct like_options {
	struct common_options common; /* its word: the run */
	struct filter_options filter;
	struct store_options store;
	unsigned neighbours; /* 0: the default */
	bool without_programs;
	enum print_format as;
};

static int neighbours_parse(void *number, const char *text)
{
	return number_parse(text, 1, MAX_NEIGHBOURS, number);
}

/* clang-format off */
#define AT(field) offsetof(struct like_options, field)

static const struct option_row like_rows[] = {
	{ "neighbours", 'k', "N", false, "Show the N nearest runs, which vote for the kind (default 5)", neighbours_parse, AT(neighbours), GUARD_NONE },
	{ "without-programs", 0, NULL, false, "Do not look at which programs ran, only at how", flag_parse, AT(without_programs), GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "text (default), or json: one document", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "The same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group like_groups[] = {
	{ like_rows, 0, false },
	{ filter_rows, AT(filter), false },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int like_parse(void *options, int argc, char **argv)
{
	int err = options_parse(&subcommand_like, options, argc, argv);

	return err ? err : words_check_run(options);
}

static void like_help(void)
{
	puts("Usage: bpfmon like [OPTIONS] [RUN]\n\n"
	     "Which of the runs that were kept is RUN like? Compares what does not depend on their "
	     "size:\n"
	     "shares of the time, rates of calls, bytes and faults per CPU second, the course of "
	     "memory,\n"
	     "the programs that ran. The nearest runs vote for the kind, which is the name of a "
	     "run, or\n"
	     "its program; where none is near RUN is of an unknown one. RUN is what show takes; "
	     "the\n"
	     "filters choose the runs that it is compared with, of those that have ended.\n");
	options_print(&subcommand_like);
	puts("\nExit status: 0; 2 usage, no such run, or none to compare it with.");
}

static int signature_find(const struct named_runs *named, struct signature *g,
			  char uuid[SIGNED_UUID_BYTES])
{
	struct source s = { 0 };
	int err = named_runs_open(named, 0, &s);

	if (err)
		return err; /* reported already */
	s.is_coarse = true;
	err = signed_run_read(&s, g, uuid);
	if (err)
		log_error("cannot read '%s': %s", named->list[0].label, source_why(&s, err));
	source_close(&s);
	return err;
}

static int like_print(const struct like_shown *s, const struct like_options *o)
{
	int err = 0;

	if (o->as == PRINT_JSON)
		err = like_json(stdout, s);
	else
		like_text(stdout, s, terminal_width(stdout));
	if (err)
		log_error("out of memory for the answer");
	else if (fflush(stdout) || ferror(stdout))
		log_error("cannot write to stdout");
	else
		return 0;
	return -EIO;
}

static int like_compare(const struct named_runs *named, const struct like_runs *runs,
			const struct signature *g, const struct like_options *o)
{
	size_t k = o->neighbours ? o->neighbours : DEFAULT_NEIGHBOURS;
	struct like_scale scale;
	struct like_answer answer;
	const struct like_shown shown = {
		.label = named->list[0].label,
		.signature = g,
		.known = &runs->known,
		.runs = &runs->all,
		.prefixes = (const char *const *)named->stores.prefix,
		.scale = &scale,
		.answer = &answer,
	};
	int err;

	if (!runs->known.nr) {
		log_error("there is no other run that has ended, has a name or a command, and "
			  "passes the filters; see bpfmon list with the same filters");
		return -ENOENT;
	}
	err = like_scale_make(&scale, &runs->known, !o->without_programs);
	if (!err)
		err = like_answer_make(&answer, &scale, &runs->known, g, k);
	if (err) {
		log_error("out of memory for %zu runs", runs->known.nr);
		return err;
	}
	return like_print(&shown, o);
}

static int like_do(const struct named_runs *named, const struct like_options *o)
{
	struct run_filter filter = filter_get(&o->filter);
	char uuid[SIGNED_UUID_BYTES];
	struct like_runs runs = { 0 };
	struct signature g;
	int err = signature_find(named, &g, uuid);

	if (!err)
		err = like_runs_read(&runs, &named->stores, &filter, uuid);
	if (!err)
		err = like_compare(named, &runs, &g, o);
	like_runs_done(&runs);
	return err;
}

static int cmd_like(int argc, char **argv)
{
	const struct run_word_rules rules = { 0 };
	struct named_runs named = { 0 };
	struct like_options o;
	int go_on = options_begin(&subcommand_like, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	err = named_runs_find(&named, &o.store, o.common.words, &rules, NULL);
	if (!err)
		err = like_do(&named, &o);
	named_runs_done(&named);
	return err ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_like = {
	.name = "like",
	.summary = "the runs that one is most like",
	.part = PART_READS,
	.run = cmd_like,
	.is_paged = true,
	.groups = like_groups,
	.options_bytes = sizeof(struct like_options),
	.parse = like_parse,
	.help = like_help,
};
