// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/common_options.h"

#include "bpfmon/option_values.h"
#include "text/terminal.h"

/* Naming a store asks for one: it undoes a --no-store before it. */
static int store_parse(void *value, const char *text)
{
	struct store_options *o = value;

	o->is_off = false;
	return text_parse(&o->path, text);
}

static int colour_parse(void *colour, const char *text)
{
	static const char *const words[] = {
		[COLOUR_AUTO] = "auto",
		[COLOUR_ALWAYS] = "always",
		[COLOUR_NEVER] = "never",
	};
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	*(int *)colour = at;
	return 0;
}

/* clang-format off */
const struct option_row colour_rows[] = {
	{ "color", 0, "WHEN", false, "Colour: auto (default: on a terminal), always, never", colour_parse, offsetof(struct common_options, colour), GUARD_NONE },
	{ 0 }
};

const struct option_row common_rows[] = {
	{ "help", 'h', NULL, false, "Show this help", flag_parse, offsetof(struct common_options, help), GUARD_NONE },
	{ "version", 'V', NULL, false, "Show the version", flag_parse, offsetof(struct common_options, version), GUARD_NONE },
	{ 0 }
};

const struct option_row store_rows[] = {
	{ "store", 0, "PATH", false, "The store is this file, not that of the user and host", store_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};

#define AT(field) offsetof(struct store_options, field)
const struct option_row node_rows[] = {
	{ "node", 0, NULL, false, "The jobs of this node that its agent has kept, not one's own runs", flag_parse, AT(of_node), GUARD_NONE },
	{ "agent", 0, "SOCKET", false, "With --node: ask the agent at SOCKET", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};

const struct option_row force_rows[] = {
	{ "force", 0, NULL, false, "Replace output files that exist", flag_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};

const struct option_row silent_rows[] = {
	{ "quiet", 'q', NULL, false, "Do not say which file was written", flag_parse, 0, GUARD_NONE },
	{ 0 }
};
/* clang-format on */

int words_check_none(const struct common_options *o)
{
	if (!o->words || !*o->words)
		return 0;
	return options_refuse("there is a word too many,", *o->words);
}

int words_check_run(const struct common_options *o)
{
	if (!o->words)
		return 0;
	return *o->words && o->words[1] ? options_refuse("there is a word too many,", o->words[1])
					: 0;
}
