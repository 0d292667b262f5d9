// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/cmd.h"

#include "base/privilege.h"

#include <stdbool.h>
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

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++) {
		if (strcmp(argv[1], commands[i].name) != 0)
			continue;
		/* what only reads needs none of the capabilities that our file may have */
		if (!commands[i].loads_programs && geteuid())
			privilege_keep(0);
		return commands[i].run(argc - 1, argv + 1);
	}
	return cmd_run(argc, argv);
}
