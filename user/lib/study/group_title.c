// SPDX-License-Identifier: BSD-2-Clause
/* Names groups of runs by what tells them apart: run names, tags, revisions, else run numbers. */
#include "study/compare.h"

#include "base/memory.h"
#include "text/format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_COLUMNS 24
#define REVISION_SHOWN 9

/* Returns the text that may name @s, a buffer of the caller or a string of @s; NULL if none. */
typedef const char *title_way(const struct side *s, char *room, size_t bytes);

static const char *fact_text(const struct side *s, const char *key)
{
	const char *text = json_string_value(json_object_get(s->facts, key));

	return text && *text ? text : NULL;
}

static const char *title_by_name(const struct side *s, char *room, size_t bytes)
{
	(void)room;
	(void)bytes;
	return fact_text(s, "name");
}

static const char *title_by_revision(const struct side *s, char *room, size_t bytes)
{
	const char *revision = fact_text(s, "git.revision");

	snprintf(room, bytes, "%.*s", REVISION_SHOWN, revision ? revision : "");
	return revision ? room : NULL;
}

static bool side_is_numbered(const struct side *s)
{
	const char *digits = strrchr(s->name, ':');

	digits = digits ? digits + 1 : s->name;
	return s->is_run && *digits && !digits[strspn(digits, "0123456789")];
}

static const char *title_by_file(const struct side *s, char *room, size_t bytes)
{
	const char *base = strrchr(s->name, '/');

	(void)room;
	(void)bytes;
	base = base && base[1] ? base + 1 : s->name;
	return side_is_numbered(s) ? NULL : base;
}

/* The command is a list of words joined by blanks, so that this is the first of them. */
static const char *title_by_program(const struct side *s, char *room, size_t bytes)
{
	const char *command = fact_text(s, "command"), *base = command;
	size_t n = command ? strcspn(command, " ") : 0;

	for (size_t i = 0; i < n; i++)
		if (command[i] == '/')
			base = command + i + 1;
	if (!command || base >= command + n)
		return NULL;
	n -= (size_t)(base - command);
	snprintf(room, bytes, "%.*s", n < bytes ? (int)n : (int)bytes - 1, base);
	return room;
}

const char *side_word(const struct side *s, char *room, size_t bytes)
{
	if (!side_is_numbered(s))
		return s->name;
	snprintf(room, bytes, "run %s", s->name);
	return room;
}

/* Makes @text inert and short. Returns whether there is a title then. */
static bool title_set(char title[TITLE_BYTES], const char *text)
{
	char *made = NULL;
	size_t length = 0;
	FILE *f = memory_open_memstream(&made, &length);
	bool is_made;

	*title = '\0';
	if (!f)
		return false;
	format_middle(f, text, TITLE_COLUMNS);
	is_made = !fclose(f) && length && length < TITLE_BYTES;
	if (is_made)
		memcpy(title, made, length + 1);
	free(made);
	return is_made;
}

static bool titles_differ(const struct groups *g)
{
	for (size_t i = 0; i < g->nr; i++)
		for (size_t k = 0; k < i; k++)
			if (!strcmp(g->list[i].title, g->list[k].title))
				return false;
	return true;
}

static bool titles_set(struct groups *g, title_way *way)
{
	char room[TITLE_BYTES];

	for (size_t i = 0; i < g->nr; i++) {
		const char *text = way(g->list[i].sides[0], room, sizeof(room));

		if (!text || !title_set(g->list[i].title, text))
			return false;
	}
	return titles_differ(g);
}

/* A number means nothing without its key. */
static bool title_set_value(char title[TITLE_BYTES], const char *key, const char *value)
{
	char *text = NULL, *end;
	bool is_set;

	strtod(value, &end);
	if (*value && *end)
		return title_set(title, value);
	if (memory_asprintf(&text, "%s=%s", key, value) < 0)
		return false;
	is_set = title_set(title, text);
	free(text);
	return is_set;
}

static bool titles_set_by_tag(struct groups *g, const char *tag)
{
	for (size_t i = 0; i < g->nr; i++) {
		const char *value = side_tag(g->list[i].sides[0], tag);

		if (!value || !title_set_value(g->list[i].title, tag, value))
			return false;
	}
	return titles_differ(g);
}

#define TAGS "tags."

/* Takes the first tag that has another value in each group. */
static bool titles_set_by_tags(struct groups *g)
{
	json_t *facts = g->nr ? g->list[0].sides[0]->facts : NULL, *v;
	const char *key;

	json_object_foreach(facts, key, v)
		if (!strncmp(key, TAGS, strlen(TAGS)) && titles_set_by_tag(g, key + strlen(TAGS)))
			return true;
	return false;
}

/* Puts its number before each title, because some are alike. */
static void titles_number(struct groups *g)
{
	char text[TITLE_BYTES + 24];

	for (size_t i = 0; i < g->nr; i++) {
		char *title = g->list[i].title;

		snprintf(text, sizeof(text), "#%zu %s", i + 1, title);
		if (!*title || !title_set(title, text))
			snprintf(title, TITLE_BYTES, "side %zu", i + 1);
	}
}

void groups_set_titles(struct groups *g)
{
	static title_way *const ways[] = { title_by_file, title_by_revision, title_by_program,
					   side_word };

	if (g->is_history) {
		char room[TITLE_BYTES];

		snprintf(g->list[0].title, TITLE_BYTES, "earlier runs");
		title_set(g->list[1].title, side_word(g->list[1].sides[0], room, sizeof(room)));
		return;
	}
	if (g->by) {
		for (size_t i = 0; i < g->nr; i++)
			title_set_value(g->list[i].title, g->by, g->list[i].name);
		if (!titles_differ(g))
			titles_number(g);
		return;
	}
	if (titles_set(g, title_by_name) || titles_set_by_tags(g))
		return;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (titles_set(g, ways[i]))
			return;
	titles_number(g);
}
