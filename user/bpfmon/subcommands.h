/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands: each is a file, cmd_NAME.c, and a row in subcommands.def. */
#ifndef BPFMON_SUBCOMMANDS_H
#define BPFMON_SUBCOMMANDS_H

#include "options/options.h"

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include "bpfmon/subcommands.def"

#endif
