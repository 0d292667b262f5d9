// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon complete -- WORD...: prints completions for the last word of a command line. Used by
 * docs/completion; not in the help.
 */
#include "base/exit_status.h"
#include "base/log.h"
#include "bpfmon/subcommands.h"
#include "options/completion.h"

#include <string.h>

static int cmd_complete(int argc, char **argv)
{
	if (argc < 3 || strcmp(argv[1], "--") != 0) {
		log_error("complete is for shells: see docs/completion");
		return EXIT_USAGE;
	}
	completion_print(argv + 2, (size_t)argc - 2);
	return 0;
}

const struct subcommand subcommand_complete = {
	.name = "complete",
	.run = cmd_complete,
};
