// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/cmd.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/privilege.h"
#include "base/stack.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	bool loads_programs;
} commands[] = {
	{ "attach", cmd_attach, true },
	{ "check", cmd_check, true },
	{ "compare", cmd_compare, false },
	{ "export", cmd_export, false },
	{ "list", cmd_list, false },
	{ "mark", cmd_mark, false },
	{ "metrics", cmd_metrics, false },
	{ "report", cmd_report, false },
	{ "show", cmd_show, false },
	{ "store", cmd_store, false },
};
/* clang-format on */

/* What lacks something for want of memory is no success, whichever part did without. */
static int status_after_memory(int status)
{
	if (!memory_was_short())
		return status;
	if (log_owes_memory())
		log_error("out of memory: what was printed may not be all of it");
	return EXIT_USAGE;
}

static int main_run(int argc, char **argv)
{
	int err = memory_begin();

	if (err) {
		log_error("cannot watch the memory: %s", strerror(-err));
		return EXIT_BPFMON;
	}
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		/* what only reads needs none of the capabilities that our file may have */
		if (!commands[i].loads_programs && geteuid())
			privilege_keep(0);
		return status_after_memory(commands[i].run(argc - 1, argv + 1));
	}
	return cmd_run(argc, argv);
}

int main(int argc, char **argv)
{
	return stack_run(main_run, argc, argv);
}
