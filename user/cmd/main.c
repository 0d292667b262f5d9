// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/cmd.h"

#include <string.h>

/* clang-format off */
static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{ "attach", cmd_attach },
	{ "check", cmd_check },
	{ "compare", cmd_compare },
	{ "export", cmd_export },
	{ "list", cmd_list },
	{ "mark", cmd_mark },
	{ "metrics", cmd_metrics },
	{ "report", cmd_report },
	{ "show", cmd_show },
	{ "store", cmd_store },
};
/* clang-format on */

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (!strcmp(argv[1], commands[i].name))
			return commands[i].run(argc - 1, argv + 1);
	return cmd_run(argc, argv);
}
