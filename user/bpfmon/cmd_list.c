// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon list: the runs that were kept. */
#include "bpfmon/cmd_list.h"

#include "options/common_options.h"
#include "bpfmon/list_many.h"
#include "options/option_values.h"
#include "store/stores.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "text/runs_text.h"
#include "text/terminal.h"
#include "bpfmon/subcommands.h"

#include <stdio.h>

#define DEFAULT_LIMIT 100
#define MAX_LIMIT 1000000000

struct list_options {
	struct common_options common;
	struct filter_options filter;
	struct store_options store;
	enum run_order order;
	unsigned limit; /* 0: all */
	bool has_limit;
	enum print_format as;
	struct run_columns columns;
	struct many_options many;
};

static int order_parse(void *order, const char *text)
{
	static const char *const words[] = {
		[BY_START] = "start",   [BY_WALL] = "wall", [BY_CPU] = "cpu",
		[BY_MEMORY] = "memory", [BY_NAME] = "name",
	};
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	*(enum run_order *)order = (enum run_order)at;
	return 0;
}

static int list_limit_parse(void *options, const char *text)
{
	struct list_options *o = options;

	o->has_limit = true;
	return number_parse(text, 0, MAX_LIMIT, &o->limit);
}

int list_columns_parse(void *columns, const char *text)
{
	const char *bad;
	size_t length;

	return run_columns_parse(columns, text, &bad, &length);
}

/* clang-format off */
#define AT(field) offsetof(struct list_options, field)

static const struct option_row list_rows[] = {
	{ "sort", 0, "ORDER", false, "By start (default), wall, cpu, memory, or name", order_parse, AT(order), PROJECT_MAY },
	{ "limit", 0, "N", false, "At most N runs; 0: all (default 100; of json and csv all)", list_limit_parse, 0, GUARD_NONE },
	{ "columns", 0, "LIST", false, "These columns, as in id,name,wall,tags; list --help has all", list_columns_parse, AT(columns), PROJECT_MAY },
	{ "format", 'f', "FORMAT", false, "text (default), json: one object a line, or csv", print_list_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "The same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ "csv", 0, NULL, false, "The same as --format csv", print_csv_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group list_groups[] = {
	{ filter_rows, AT(filter), false }, { list_rows, 0, false },
	{ many_rows, AT(many), false },     { store_rows, AT(store), true },
	{ node_rows, AT(store), false },    { colour_rows, AT(common), true },
	{ common_rows, AT(common), false }, { 0 },
};

/* What is said of all runs together is no table. */
static int list_check(const struct list_options *o)
{
	if (o->many.threshold > 0 && o->many.what != MANY_UNUSUAL)
		return options_refuse("without --unusual there is no", "--threshold");
	if (o->many.what && o->columns.nr)
		return options_refuse("of many runs together there is no", "--columns");
	if (o->many.what && o->as == PRINT_CSV)
		return options_refuse("of many runs together there is no", "csv");
	if (o->as == PRINT_JSON && o->columns.nr)
		return options_refuse("with --json there is no", "--columns");
	return 0;
}

static int list_parse(void *options, int argc, char **argv)
{
	struct list_options *o = options;
	int err = options_parse(&subcommand_list, options, argc, argv);

	for (char **word = o->common.words; !err && word && *word; word++)
		if (filter_word_add(&o->filter, *word))
			return options_refuse("list cannot search for", *word);
	return err ? err : list_check(o);
}

static void list_help(void)
{
	puts("Usage: bpfmon list [OPTIONS] [WORD...]\n\n"
	     "Lists the runs that were kept, of all hosts of the user, the newest first: those "
	     "that\n"
	     "have each WORD in their name, command or note, whatever its case. --hist, "
	     "--scatter,\n"
	     "--unusual and --trend are about all of them together instead. A METRIC is wall, "
	     "peak,\n"
	     "cpu, processes, or a key of a summary, as read_bytes.\n");
	options_print(&subcommand_list);
	fputs("\nColumns, by their keys in JSON and CSV:", stdout);
	for (size_t i = 0; run_column_key(i); i++)
		printf("%s%s", i % 6 ? ", " : i ? ",\n  " : "\n  ", run_column_key(i));
	puts(";\nor shorter: started, exit, wall, cpu, peak, processes, uuid.\n\n"
	     "Exit status: 0; 2 usage, or a store that cannot be read.");
}

static size_t list_limit(const struct list_options *o)
{
	return o->has_limit ? o->limit : o->as != PRINT_TEXT ? 0 : DEFAULT_LIMIT;
}

/* A metric behind a blank is a word that runs are searched for. */
static void list_hint_metric(const struct list_options *o)
{
	struct many_metrics metrics = { 0 };

	for (char **word = o->common.words; word && *word; word++)
		if (!many_metrics_set(&metrics, *word))
			log_warn("no run has the word '%s'; as a metric it is given with a '=', as "
				 "in "
				 "--hist=%s",
				 *word, *word);
}

static int list_print_many(const struct list_options *o, const struct stores *s,
			   const struct stored_runs *all)
{
	if (!all->nr)
		list_hint_metric(o);
	return many_print(&o->many, o->as, list_limit(o), s, all) ? EXIT_USAGE : 0;
}

static int list_print(const struct list_options *o, const struct stores *s, struct stored_runs *all)
{
	const char *const *prefixes = (const char *const *)s->prefix;
	size_t limit = list_limit(o);
	size_t shown = limit && limit < all->nr ? limit : all->nr;

	stored_runs_sort(all, o->order);
	if (o->as == PRINT_JSON && runs_json(stdout, all, shown, prefixes)) {
		log_error("out of memory for the list");
		return EXIT_USAGE;
	}
	if (o->as == PRINT_CSV && runs_csv(stdout, all, shown, prefixes, &o->columns)) {
		log_error("out of memory for the list");
		return EXIT_USAGE;
	}
	if (o->as == PRINT_TEXT)
		runs_table(stdout, all, shown, prefixes, &o->columns, terminal_width(stdout));
	return 0;
}

static int cmd_list(int argc, char **argv)
{
	struct stored_runs all = { 0 };
	struct run_filter filter;
	struct stores s = { 0 };
	struct list_options o;
	int go_on = options_begin(&subcommand_list, &o, argc, argv), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	filter = filter_get(&o.filter);
	if (!stores_find(&s, &o.store) && !stores_query(&s, &filter, &all))
		status = o.many.what ? list_print_many(&o, &s, &all) : list_print(&o, &s, &all);
	stored_runs_done(&all);
	stores_done(&s);
	return status;
}

const struct subcommand subcommand_list = {
	.name = "list",
	.aliases = "ls history log runs",
	.summary = "the runs that were kept",
	.part = PART_READS,
	.words = { .most = ANY_WORDS },
	.run = cmd_list,
	.groups = list_groups,
	.options_bytes = sizeof(struct list_options),
	.parse = list_parse,
	.help = list_help,
};
