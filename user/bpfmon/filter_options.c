// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/filter_options.h"

#include "bpfmon/option_values.h"

#include <errno.h>
#include <string.h>

static const char *const states[] = {
	[ANY_STATE] = "any",          [ONLY_RUNNING] = "running",
	[ONLY_FINISHED] = "finished", [ONLY_UNFINISHED] = "unfinished",
	[ONLY_FAILED] = "failed",
};

const char *filter_state_word(enum state_filter state)
{
	return states[state];
}

static int filter_tag_parse(void *options, const char *text)
{
	struct filter_options *o = options;

	if (!strcspn(text, "=") || o->filter.nr_tags == MAX_TAGS)
		return -EINVAL;
	o->tags[o->filter.nr_tags++] = text;
	return 0;
}

int filter_word_add(void *options, const char *word)
{
	struct filter_options *o = options;

	if (!*word || o->filter.nr_words == MAX_FILTER_WORDS)
		return -EINVAL;
	o->words[o->filter.nr_words++] = word;
	return 0;
}

static int filter_state_parse(void *value, const char *text)
{
	int at = word_find(states, sizeof(states) / sizeof(*states), text);

	if (at < 0)
		return at;
	*(enum state_filter *)value = (enum state_filter)at;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct filter_options, filter.field)

const struct option_row filter_rows[] = {
	{ "name", 0, "NAME", false, "Only runs of this name; * and ? stand for anything", text_parse, AT(name), GUARD_NONE },
	{ "span", 0, "NAME", false, "Only runs with a span of this name; * and ? as above", text_parse, AT(span), GUARD_NONE },
	{ "job", 0, "ID", false, "Only runs of this job; * and ? as above", text_parse, AT(job), GUARD_NONE },
	{ "tag", 0, "KEY[=VALUE]", false, "Only runs with this tag; may be repeated", filter_tag_parse, 0, GUARD_NONE },
	{ "command", 0, "TEXT", false, "Only runs with this text in their command", text_parse, AT(command), GUARD_NONE },
	{ "search", 0, "WORD", false, "Only runs with it in name, command or note, in any case", filter_word_add, 0, GUARD_NONE },
	{ "host", 0, "NAME", false, "Only runs on this host; * and ? stand for anything", text_parse, AT(host), GUARD_NONE },
	{ "user", 0, "NAME", false, "Only runs of this user", text_parse, AT(user), GUARD_NONE },
	{ "state", 0, "STATE", false, "Only runs: running, finished, unfinished, failed", filter_state_parse, AT(state), GUARD_NONE },
	{ "since", 0, "WHEN", false, "Only runs begun since: 7d, 12h, 30m, or 2025-12-24", moment_parse, AT(since_ns), GUARD_NONE },
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
