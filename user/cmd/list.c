// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon list: the runs that were kept. */
#include "cmd/common_options.h"
#include "cmd/filter_options.h"
#include "cmd/option_values.h"
#include "cmd/stores.h"

#include "base/log.h"
#include "view/runs_text.h"
#include "view/terminal.h"

#include <stdio.h>

#define DEFAULT_LIMIT 100
#define MAX_LIMIT 1000000000

struct list_options {
	struct common_options common;
	struct filter_options filter;
	struct store_options store;
	enum run_order order;
	unsigned limit; /* 0: all */
	bool has_limit, json;
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

/* clang-format off */
#define AT(field) offsetof(struct list_options, field)

static const struct option_row list_rows[] = {
	{ "sort", 0, "ORDER", false, "By start (default), wall, cpu, memory, or name", order_parse, AT(order), GUARD_NONE },
	{ "limit", 0, "N", false, "At most N runs; 0: all (default 100, of --json all)", list_limit_parse, 0, GUARD_NONE },
	{ "json", 0, NULL, false, "One JSON object a line instead of a table", flag_parse, AT(json), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group list_groups[] = {
	{ filter_rows, AT(filter), false },
	{ list_rows, 0, false },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int list_parse(void *options, int argc, char **argv)
{
	int err = options_parse(&subcommand_list, options, argc, argv);

	return err ? err : words_check_none(options);
}

static void list_help(void)
{
	puts("Usage: bpfmon list [OPTIONS]\n\n"
	     "Lists the runs that were kept, of all hosts of the user, the newest first.\n");
	options_print(&subcommand_list);
	puts("Exit status: 0; 2 usage, or a store that cannot be read.");
}

static int list_print(const struct list_options *o, const struct stores *s, struct stored_runs *all)
{
	const char *const *prefixes = (const char *const *)s->prefix;
	size_t limit = o->has_limit ? o->limit : o->json ? 0 : DEFAULT_LIMIT;
	size_t shown = limit && limit < all->nr ? limit : all->nr;

	stored_runs_sort(all, o->order);
	if (o->json && runs_json(stdout, all, shown, prefixes)) {
		log_error("out of memory for the list");
		return EXIT_USAGE;
	}
	if (!o->json)
		runs_table(stdout, all, shown, prefixes, terminal_width(stdout));
	if (!fflush(stdout) && !ferror(stdout))
		return 0;
	log_error("cannot write the list to stdout");
	return EXIT_USAGE;
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
	if (!stores_find(&s, o.store.path) && !stores_query(&s, &filter, &all))
		status = list_print(&o, &s, &all);
	stored_runs_done(&all);
	stores_done(&s);
	return status;
}

const struct subcommand subcommand_list = {
	.name = "list",
	.summary = "the runs that were kept",
	.part = PART_READS,
	.run = cmd_list,
	.groups = list_groups,
	.options_bytes = sizeof(struct list_options),
	.parse = list_parse,
	.help = list_help,
};
