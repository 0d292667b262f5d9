// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon list: the runs that were kept. */
#include "cmd/cmd.h"
#include "cmd/filter.h"
#include "cmd/stores.h"

#include "base/log.h"
#include "view/runs_text.h"
#include "view/terminal.h"

#include <stdio.h>

#define DEFAULT_LIMIT 100

static void list_help(void)
{
	puts("Usage: bpfmon list [OPTIONS]\n\n"
	     "Lists the runs that were kept, of all hosts of the user, the newest first.\n");
	options_help(FOR_LIST);
	puts("Exit status: 0; 2 usage, or a store that cannot be read.");
}

static int list_print(const struct options *o, const struct stores *s, struct stored_runs *all)
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

int cmd_list(int argc, char **argv)
{
	struct stored_runs all = { 0 };
	struct run_filter filter;
	struct stores s = { 0 };
	struct options o;
	int go_on = stores_begin(&o, FOR_LIST, argc, argv, list_help), status = EXIT_USAGE;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	filter = options_filter(&o);
	if (!stores_find(&s, o.store) && !stores_query(&s, &filter, &all))
		status = list_print(&o, &s, &all);
	stored_runs_done(&all);
	stores_done(&s);
	return status;
}
