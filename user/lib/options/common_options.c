// SPDX-License-Identifier: BSD-2-Clause
#include "options/common_options.h"

#include "options/option_values.h"
#include "text/terminal.h"

#include <errno.h>
#include <string.h>

/* Sets the path of the store, which overrides a previous --no-store. */
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
	{ "color", 0, "WHEN", false, "Use colours: auto (default, on a terminal), always or never", colour_parse, offsetof(struct common_options, colour), GUARD_NONE },
	{ 0 }
};

const struct option_row common_rows[] = {
	{ "help", 'h', NULL, false, "Show this help", flag_parse, offsetof(struct common_options, help), GUARD_NONE },
	{ "version", 'V', NULL, false, "Show the version", flag_parse, offsetof(struct common_options, version), GUARD_NONE },
	{ 0 }
};

const struct option_row store_rows[] = {
	{ "store", 0, "PATH", false, "Use this file as the store", store_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};

#define AT(field) offsetof(struct store_options, field)
const struct option_row node_rows[] = {
	{ "node", 0, NULL, false, "Use the agent's history of jobs instead of your own runs", flag_parse, AT(of_node), GUARD_NONE },
	{ 0 }
};

const struct option_row node_agent_rows[] = {
	{ "agent", 0, "SOCKET", false, "With --node: ask the agent at SOCKET", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};

const struct option_row force_rows[] = {
	{ "force", 0, NULL, false, "Overwrite existing output files", flag_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};

const struct option_row silent_rows[] = {
	{ "quiet", 'q', NULL, false, "Do not print the path of the file written", flag_parse, 0, GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static int filter_tag_parse(void *options, const char *text)
{
	struct filter_options *o = options;

	if (!strcspn(text, "="))
		return value_refuse("KEY or KEY=VALUE");
	if (o->filter.nr_tags == MAX_TAGS)
		return value_refuse("at most %d tags", MAX_TAGS);
	o->tags[o->filter.nr_tags++] = text;
	return 0;
}

int filter_word_add(void *options, const char *word)
{
	struct filter_options *o = options;

	if (!*word)
		return value_refuse("a text that is not empty");
	if (o->filter.nr_words == MAX_FILTER_WORDS)
		return value_refuse("at most %d words", MAX_FILTER_WORDS);
	o->words[o->filter.nr_words++] = word;
	return 0;
}

static int filter_state_parse(void *value, const char *text)
{
	const char *words[NR_STATE_FILTERS];
	int at;

	for (int i = 0; i < NR_STATE_FILTERS; i++)
		words[i] = run_state_word((enum state_filter)i);
	at = word_find(words, NR_STATE_FILTERS, text);
	if (at < 0)
		return at;
	*(enum state_filter *)value = (enum state_filter)at;
	return 0;
}

/* clang-format off */
#undef AT
#define AT(field) offsetof(struct filter_options, filter.field)

const struct option_row filter_rows[] = {
	{ "name", 0, "NAME", false, "Only runs with this name; * and ? are wildcards", text_parse, AT(name), GUARD_NONE },
	{ "span", 0, "NAME", false, "Only runs with a span of this name; * and ? are wildcards", text_parse, AT(span), GUARD_NONE },
	{ "job", 0, "ID", false, "Only runs of this job; * and ? are wildcards", text_parse, AT(job), GUARD_NONE },
	{ "tag", 0, "KEY[=VALUE]", false, "Only runs with this tag; may be repeated", filter_tag_parse, 0, GUARD_NONE },
	{ "command", 0, "TEXT", false, "Only runs with this text in their command", text_parse, AT(command), GUARD_NONE },
	{ "search", 0, "WORD", false, "Only runs with this in name, command or note; ignores case", filter_word_add, 0, GUARD_NONE },
	{ "word", 0, "WORD", false, "Same as --search", filter_word_add, 0, GUARD_NONE },
	{ "host", 0, "NAME", false, "Only runs on this host; * and ? are wildcards", text_parse, AT(host), GUARD_NONE },
	{ "user", 0, "NAME", false, "Only runs of this user", text_parse, AT(user), GUARD_NONE },
	{ "state", 0, "STATE", false, "running unfinished finished: ended failed (signal limit oom)", filter_state_parse, AT(state), GUARD_NONE },
	{ "since", 0, "WHEN", false, "Only runs started in the last 7d, 12h, 30m, or since 2025-12-24", moment_parse, AT(since_ns), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

struct run_filter filter_get(const struct filter_options *o)
{
	struct run_filter f = o->filter;

	f.tags = o->tags;
	f.words = o->words;
	return f;
}

bool filter_is_given(const struct filter_options *o)
{
	const struct run_filter *f = &o->filter;

	return f->name || f->span || f->job || f->nr_tags || f->host || f->user || f->command ||
	       f->nr_words || f->since_ns || f->state != ANY_STATE;
}

static const char *const names[] = {
	[PRINT_TEXT] = "text",
	[PRINT_JSON] = "json",
	[PRINT_MARKDOWN] = "markdown",
	[PRINT_CSV] = "csv",
};

/* Accepts the formats up to @last. */
static int print_format_parse(enum print_format *as, const char *text, enum print_format last)
{
	int at = word_find(names, (size_t)last + 1, text);

	if (at < 0)
		return at;
	*as = (enum print_format)at;
	return 0;
}

int print_json_or_text_parse(void *as, const char *text)
{
	return print_format_parse(as, text, PRINT_JSON);
}

int print_markdown_parse(void *as, const char *text)
{
	return print_format_parse(as, text, PRINT_MARKDOWN);
}

int print_any_parse(void *as, const char *text)
{
	return print_format_parse(as, text, PRINT_CSV);
}

int print_list_parse(void *as, const char *text)
{
	if (!strcmp(text, names[PRINT_MARKDOWN]) || print_any_parse(as, text))
		return value_refuse("text, json or csv");
	return 0;
}

int print_csv_parse(void *as, const char *text)
{
	(void)text;
	*(enum print_format *)as = PRINT_CSV;
	return 0;
}

int print_json_parse(void *as, const char *text)
{
	(void)text;
	*(enum print_format *)as = PRINT_JSON;
	return 0;
}
