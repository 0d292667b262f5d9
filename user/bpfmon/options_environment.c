// SPDX-License-Identifier: BSD-2-Clause
/* The variables that stand for options. */
#include "bpfmon/options.h"

#include "base/log.h"
#include "base/user.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void variable_name(const struct option_row *row, char name[64])
{
	size_t n = (size_t)snprintf(name, 64, "BPFMON_");

	for (const char *c = row->name; *c && n < 63; c++)
		name[n++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
	name[n] = '\0';
}

/* The value of the variable that stands for the option, and its @name; NULL: it is not set. */
static const char *variable_get(const struct option_row *row, char name[64])
{
	const char *text;

	variable_name(row, name);
	text = getenv(name);
	if (!text || !*text || (!row->argument && !strcmp(text, "0")))
		return NULL;
	return text;
}

bool option_has_variable(const struct option_row *row)
{
	const char *text;
	char name[64];

	variable_name(row, name);
	text = getenv(name);
	return text && *text;
}

/*
 * BPFMON_INTERVAL and so on: the command line is applied later and wins. A sudoers rule restricts
 * the command line, but not the variables that sudo passes on.
 */
int options_from_environment(const struct subcommand *sub, void *options)
{
	const bool is_sudo = user_is_under_sudo();
	const struct option_group *group;
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(sub, i, &group)); i++) {
		char name[64];
		const char *text = variable_get(row, name);
		int err;

		if (!text || !group->has_variables || row->guard == GUARD_TEST)
			continue;
		if (is_sudo && option_is_guarded(row)) {
			log_warn(
				"under sudo %s is ignored: it is the caller's; --%s on the command "
				"line is permitted or not by sudo",
				name, row->name);
			continue;
		}
		err = option_apply(options, group, row, text, name);
		if (err)
			return err;
	}
	return 0;
}
