// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/subcommand.h"

#include <string.h>

#define ROW_OF(name) &subcommand_##name,

const struct subcommand *const subcommands[] = { EACH_SUBCOMMAND(ROW_OF) NULL };

const struct subcommand *subcommand_find(const char *name)
{
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if ((*sub)->name && !strcmp((*sub)->name, name))
			return *sub;
	return NULL;
}
