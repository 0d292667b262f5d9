/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands: each is a file, cmd_NAME.c, and a row in subcommands.def. */
#ifndef BPFMON_SUBCOMMANDS_H
#define BPFMON_SUBCOMMANDS_H

#include "options/options.h"

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include "bpfmon/subcommands.def"

/*
 * Parsers of options with a row in value_kinds[]; the pointer is to the struct of their subcommand.
 */
int list_columns_parse(void *columns, const char *text);
int export_format_parse(void *format, const char *text);
int report_many_parse(void *many, const char *text);

#endif
