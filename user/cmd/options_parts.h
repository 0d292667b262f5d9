/* SPDX-License-Identifier: BSD-2-Clause */
/* What command line and environment have in common. */
#ifndef CMD_OPTIONS_PARTS_H
#define CMD_OPTIONS_PARTS_H

#include "cmd/options.h"

/* Whether the subcommand of @scope has the option. */
bool option_is_for(enum option_scope scope, const struct option_row *row);
/* Parses @text as its value into @o. -EINVAL after one line to the user, which names @shown_as. */
int option_apply(struct options *o, const struct option_row *row, const char *text,
		 const char *shown_as);
/* Applies the variables that are set. -EINVAL after one line to the user. */
int options_from_environment(struct options *o);

#endif
