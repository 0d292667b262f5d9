// SPDX-License-Identifier: BSD-2-Clause
#include "options/option.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/user.h"
#include "options/option_values.h"
#include "run/run.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct subcommand *subcommand_find(const char *name)
{
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if ((*sub)->name && !strcmp((*sub)->name, name))
			return *sub;
	return NULL;
}

int first_word_find(const struct subcommand *sub, const char *word)
{
	const struct first_word *first = sub->words.first;

	for (int i = 0; first && first[i].name; i++)
		if (!strcmp(first[i].name, word))
			return i;
	return -1;
}

const struct value_kind *value_kind_of(const struct option_row *row)
{
	for (const struct value_kind *kind = value_kinds; kind->parse; kind++)
		if (kind->parse == row->parse)
			return kind;
	return NULL;
}

/* Returns true if the option chooses something that a sudoers rule decides on. */
static bool option_is_guarded(const struct option_row *row)
{
	return row->guard >= GUARD_ENVIRONMENT;
}

const struct option_row *option_at(const struct subcommand *sub, size_t i,
				   const struct option_group **group)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++)
		for (const struct option_row *row = g->rows; row->name; row++) {
			*group = g;
			if (!i--)
				return row;
		}
	return NULL;
}

bool option_takes(const struct subcommand *sub, const struct option_group *group,
		  const struct option_row *row, const char *text)
{
	void *scratch = memory_calloc(1, sub->options_bytes);
	bool takes;

	value_expectation_clear();
	takes = scratch && !row->parse((char *)scratch + group->offset + row->offset, text);
	free(scratch);
	return takes;
}

int option_apply(void *options, const struct option_group *group, const struct option_row *row,
		 const char *text, const char *shown_as)
{
	const struct value_kind *kind = value_kind_of(row);
	size_t length = text ? strlen(text) : 0;
	const char *guess, *bad = text;
	int err;

	value_expectation_clear();
	err = row->parse((char *)options + group->offset + row->offset, text);
	if (!err)
		return 0;
	guess = text && kind && kind->guess ? kind->guess(text, &bad, &length) : NULL;
	if (err == -E2BIG)
		log_error("%s does not accept '%s': a run has at most %d tags", shown_as, text,
			  MAX_TAGS);
	else if (err == -ENAMETOOLONG)
		log_error("%s does not accept texts of more than %d bytes", shown_as,
			  RUN_WORD_BYTES - 1);
	else if (guess && length < strlen(text))
		log_error("%s does not accept '%s': '%.*s' is unknown; did you mean '%s'?",
			  shown_as, text, (int)length, bad, guess);
	else if (guess)
		log_error("%s does not accept '%s'; did you mean '%s'?", shown_as, text, guess);
	else
		log_error("%s does not accept '%s': it expects %s", shown_as, text,
			  value_expectation());
	return -EINVAL;
}

int options_refuse(const char *what, const char *text)
{
	log_error("%s '%s'; see --help", what, text);
	return -EINVAL;
}

static void variable_name(const struct option_row *row, char name[64])
{
	size_t n = (size_t)snprintf(name, 64, "BPFMON_");

	for (const char *c = row->name; *c && n < 63; c++)
		name[n++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
	name[n] = '\0';
}

/* Returns the value of the option's variable and sets @name; NULL if it is unset. */
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
 * Applies BPFMON_INTERVAL and so on, before the command line, which overrides them. A sudoers rule
 * restricts the command line, but not the variables that sudo passes on.
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
			log_warn("ignoring %s under sudo, because it comes from the caller; use "
				 "--%s on the command line, if the sudoers rule allows it",
				 name, row->name);
			continue;
		}
		err = option_apply(options, group, row, text, name);
		if (err)
			return err;
	}
	return 0;
}
