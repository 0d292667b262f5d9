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
#define DOTS "..."
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

/*
 * Returns how many bytes the texts begin with in common, up to the end of a word, if one of them is
 * too long for a title.
 */
static size_t texts_common(char *const *texts, size_t nr)
{
	bool is_long = false;
	size_t n = strlen(texts[0]);

	for (size_t i = 0; i < nr; i++) {
		size_t k = 0;

		is_long |= format_columns(texts[i]) > TITLE_COLUMNS;
		while (k < n && texts[i][k] == texts[0][k])
			k++;
		n = k;
	}
	while (n && !strchr("-_./=:,@ ", texts[0][n - 1]))
		n--;
	return is_long && n > strlen(DOTS) ? n : 0;
}

#define LEAST_REST 4 /* bytes of a word that is clear without what precedes it */

/* Sets the titles to @texts, one for each group, without the common beginning of long ones. */
static bool titles_take(struct groups *g, char *const *texts)
{
	size_t common = g->nr ? texts_common(texts, g->nr) : 0;
	const char *before = "";
	bool are_set = true;

	for (size_t i = 0; common && i < g->nr; i++)
		if (strlen(texts[i]) < common + LEAST_REST ||
		    isdigit((unsigned char)texts[i][common]))
			before = DOTS;

	for (size_t i = 0; are_set && i < g->nr; i++) {
		char *text = NULL;

		are_set = memory_asprintf(&text, "%s%s", before, texts[i] + common) > 0;
		are_set = are_set && title_set(g->list[i].title, text);
		free(text);
	}
	return are_set && titles_differ(g);
}

/* A number means nothing without its key. Returns a text that the caller frees, or NULL. */
static char *value_text(const char *key, const char *value)
{
	char *text = NULL, *end;

	strtod(value, &end);
	if (*value && *end)
		return memory_strdup(value);
	return memory_asprintf(&text, "%s=%s", key, value) < 0 ? NULL : text;
}

/* Sets the titles by @way, or if that is NULL by the tag @tag or, without one, by the groups'
 * names. */
static bool titles_set(struct groups *g, title_way *way, const char *tag)
{
	char **texts = memory_calloc(g->nr + 1, sizeof(*texts)), room[TITLE_BYTES];
	bool are_set = texts != NULL;

	for (size_t i = 0; are_set && i < g->nr; i++) {
		const struct side *s = g->list[i].sides[0];
		const char *text = way   ? way(s, room, sizeof(room))
				   : tag ? side_tag(s, tag)
					 : g->list[i].name;

		if (text)
			texts[i] = way ? memory_strdup(text) : value_text(tag ? tag : g->by, text);
		are_set = texts[i] != NULL;
	}
	are_set = are_set && titles_take(g, texts);
	for (size_t i = 0; texts && i < g->nr; i++)
		free(texts[i]);
	free(texts);
	return are_set;
}

#define TAGS "tags."

/* Takes the first tag that has another value in each group. */
static bool titles_set_by_tags(struct groups *g)
{
	json_t *facts = g->nr ? g->list[0].sides[0]->facts : NULL, *v;
	const char *key;

	json_object_foreach(facts, key, v)
		if (!strncmp(key, TAGS, strlen(TAGS)) && titles_set(g, NULL, key + strlen(TAGS)))
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
		if (!titles_set(g, NULL, NULL))
			titles_number(g);
		return;
	}
	if (titles_set(g, title_by_name, NULL) || titles_set_by_tags(g))
		return;
	for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
		if (titles_set(g, ways[i], NULL))
			return;
	titles_number(g);
}
