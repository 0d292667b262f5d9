// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/subcommand.h"

#include <string.h>

/* clang-format off */
const struct subcommand *const subcommands[] = {
#define SUBCOMMAND(name) &subcommand_##name,
#include "bpfmon/subcommands.def"
	NULL
};
/* clang-format on */

const struct subcommand *subcommand_find(const char *name)
{
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if ((*sub)->name && !strcmp((*sub)->name, name))
			return *sub;
	return NULL;
}
