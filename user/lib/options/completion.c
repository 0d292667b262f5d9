// SPDX-License-Identifier: BSD-2-Clause
#include "options/completion.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/text.h"
#include "options/options.h"
#include "options/settings.h"
#include "store/stores.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 64 /* per help line */
#define NONSENSE "\x01"
#define MAX_RUNS_OFFERED 200

/* The line before the word to complete. */
struct typed_line {
	const struct subcommand *sub;
	char **words;
	size_t nr, at;    /* number of words, and the next one to read */
	size_t positions; /* number of words that are no options */
	const char *first;
	const struct option_group *group;
	const struct option_row
		*pending; /* option of @group that takes the next word as its value; or NULL */
	size_t command;   /* index of the command's first word; 0: none */
};

static bool text_is_plain(const char *text)
{
	bool is_control = false;

	while (*text && !is_control)
		text += text_character_bytes(text, &is_control);
	return !is_control;
}

void completion_offer_part(const struct completion *c, const char *text, const char *end,
			   const char *help)
{
	char shown[200];

	if (strncmp(text, c->typed, strlen(c->typed)) != 0 || !*text || *text == ':' ||
	    !text_is_plain(text))
		return;
	printf("%.*s%s%s", (int)(c->typed - c->word), c->word, text, end);
	if (help && *help) {
		snprintf(shown, sizeof(shown), "%s", help);
		text_disarm(shown);
		printf("\t%s", shown);
	}
	putchar('\n');
}

void completion_offer(const struct completion *c, const char *text, const char *help)
{
	completion_offer_part(c, text, "", help);
}

void completion_offer_own(const struct completion *c, const char *what)
{
	printf(":%s %zu\n", what, (size_t)(c->typed - c->word));
}

static const struct option_row *option_named(const struct typed_line *line, const char *name,
					     size_t length, const struct option_group **group)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(line->sub, i, group)); i++)
		if (text_is(name, length, row->name))
			return row;
	return NULL;
}

static const struct option_row *option_lettered(const struct typed_line *line, char key,
						const struct option_group **group)
{
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(line->sub, i, group)); i++)
		if (row->key == key)
			return row;
	return NULL;
}

/* Handles --name, --name=value and -n; sets @pending if the next word is a value. */
static void typed_line_take_option(struct typed_line *line, const char *word)
{
	const struct option_row *row = NULL;

	if (word[1] == '-' && !strchr(word, '='))
		row = option_named(line, word + 2, strlen(word + 2), &line->group);
	else if (word[1] && word[1] != '-' && !word[2])
		row = option_lettered(line, word[1], &line->group);
	line->pending = row && row->argument && !row->argument_is_optional ? row : NULL;
}

static void typed_line_read(struct typed_line *line)
{
	for (; line->at < line->nr && !line->command; line->at++) {
		const char *word = line->words[line->at];

		if (line->pending)
			line->pending = NULL;
		else if (!strcmp(word, "--"))
			line->command = line->at + 1;
		else if (*word == '-' && word[1])
			typed_line_take_option(line, word);
		else if (!line->positions++)
			line->first = word;
	}
}

void completion_offer_subcommands(const struct completion *c, const char *first)
{
	for (const struct subcommand *const *sub = first ? NULL : subcommands; sub && *sub; sub++)
		if ((*sub)->name && (*sub)->summary)
			completion_offer(c, (*sub)->name, (*sub)->summary);
}

static void options_offer(const struct completion *c, const struct typed_line *line)
{
	const struct option_group *group;
	const struct option_row *row;
	char name[80];

	for (size_t i = 0; (row = option_at(line->sub, i, &group)); i++) {
		if (row->guard == GUARD_TEST)
			continue;
		snprintf(name, sizeof(name), "-%c", row->key);
		if (row->key)
			completion_offer(c, name, row->help);
		snprintf(name, sizeof(name), "--%s", row->name);
		completion_offer(c, name, row->help);
		if (row->argument_is_optional)
			completion_offer_part(c, name, "=", row->help);
	}
	if (!line->sub->name)
		completion_offer(c, "--", "a command follows");
}

/*
 * Offers the words of the option's argument and help that its parser accepts, since most options
 * list their values there. Offers nothing for an option that accepts any text.
 */
static void completion_offer_words(const struct completion *c, const struct subcommand *sub,
				   const struct option_group *group, const struct option_row *row)
{
	char text[512], *words[MAX_WORDS], *at = NULL;
	size_t nr = 0;

	if (option_takes(sub, group, row, NONSENSE))
		return;
	snprintf(text, sizeof(text), "%s %s", row->argument, row->help);
	for (char *w = strtok_r(text, " ,;:|()'", &at); w && nr < MAX_WORDS;
	     w = strtok_r(NULL, " ,;:|()'", &at)) {
		bool is_known = !option_takes(sub, group, row, w);

		for (size_t i = 0; !is_known && i < nr; i++)
			is_known = !strcmp(words[i], w);
		if (is_known)
			continue;
		words[nr++] = w;
		completion_offer(c, w, NULL);
	}
}

/* Reads the runs, newest first. Returns false if there are none. */
static bool completion_find_runs(const struct completion *c, struct stores *s,
				 struct stored_runs *all)
{
	struct run_filter any = { 0 };

	if (!stores_find(s, &c->store) && !stores_query(s, &any, all)) {
		stored_runs_sort(all, BY_START);
		return true;
	}
	return false;
}

typedef void (*run_offer)(const struct completion *c, const struct stored_runs *all, size_t i,
			  const char *prefix);

static void completion_each_run(const struct completion *c, run_offer offer)
{
	struct stored_runs all = { 0 };
	struct stores s = { 0 };

	if (completion_find_runs(c, &s, &all))
		for (size_t i = 0; i < all.nr && i < MAX_RUNS_OFFERED; i++)
			offer(c, &all, i, s.prefix ? s.prefix[all.runs[i].source] : "");
	stored_runs_done(&all);
	stores_done(&s);
}

static void run_offer_name(const struct completion *c, const struct stored_runs *all, size_t i,
			   const char *prefix)
{
	const char *name = all->runs[i].name;

	(void)prefix;
	if (!name)
		return;
	for (size_t k = 0; k < i; k++)
		if (all->runs[k].name && !strcmp(all->runs[k].name, name))
			return;
	completion_offer(c, name, all->runs[i].command);
}

void completion_offer_names(const struct completion *c)
{
	completion_each_run(c, run_offer_name);
}

/* Returns true if an earlier run has the tag, or one with the same first @length bytes if not 0. */
static bool tag_is_known(const struct stored_runs *all, size_t i, const char *tag, size_t length)
{
	for (size_t k = 0; k < i; k++)
		for (const char *t = all->runs[k].tags; *t; t += strlen(t) + 1)
			if (length ? !strncmp(t, tag, length) : !strcmp(t, tag))
				return true;
	return false;
}

static void run_offer_tags(const struct completion *c, const struct stored_runs *all, size_t i,
			   const char *prefix)
{
	(void)prefix;
	for (const char *t = all->runs[i].tags; *t; t += strlen(t) + 1)
		if (!tag_is_known(all, i, t, 0))
			completion_offer(c, t, NULL);
}

static void completion_offer_tags(const struct completion *c)
{
	completion_each_run(c, run_offer_tags);
}

void completion_offer_pids(const struct completion *c)
{
	__cleanup(closedirp) DIR *proc = memory_opendir("/proc");
	const struct dirent *e;

	while (proc && (e = readdir(proc))) {
		char path[300], name[64] = "";
		FILE *f;

		if (!isdigit((unsigned char)*e->d_name))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		f = memory_fopen(path, "re");
		if (f && fgets(name, sizeof(name), f))
			name[strcspn(name, "\n")] = '\0';
		if (f)
			fclose(f);
		completion_offer(c, e->d_name, name);
	}
}

static void completion_offer_users(const struct completion *c)
{
	completion_offer_own(c, "users");
}

static void completion_offer_folders(const struct completion *c)
{
	completion_offer_own(c, "folders");
}

void completion_offer_files(const struct completion *c)
{
	completion_offer_own(c, "files");
}

/* clang-format off */
static const struct {
	const char *option, *argument; /* name of the option, or name of its argument */
	void (*offer)(const struct completion *c);
} known[] = {
	{ "name", NULL, completion_offer_names },
	{ "tag", NULL, completion_offer_tags },
	{ "user", NULL, completion_offer_users },
	{ "pid", NULL, completion_offer_pids },
	{ "cgroup", NULL, completion_offer_folders },
	{ NULL, "PATH", completion_offer_files },
	{ NULL, "FILE", completion_offer_files },
	{ NULL, "SOCKET", completion_offer_files },
};
/* clang-format on */

/* Offers values of an option of the subcommand. */
static void completion_offer_values(const struct completion *c, const struct subcommand *sub,
				    const struct option_group *group, const struct option_row *row)
{
	const struct value_kind *kind = value_kind_of(row);

	if (kind && kind->offer) {
		kind->offer(c);
		return;
	}
	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
		if (known[i].option ? !strcmp(known[i].option, row->name)
				    : !strcmp(known[i].argument, row->argument)) {
			known[i].offer(c);
			return;
		}
	completion_offer_words(c, sub, group, row);
}

/* Offers the value in --option=value. Returns false if the word has no such form. */
static bool value_offer(const struct completion *c, const struct typed_line *line)
{
	const char *equals = strncmp(c->word, "--", 2) ? NULL : strchr(c->word, '=');
	const struct option_group *group;
	const struct option_row *row;
	struct completion part = *c;

	if (!equals)
		return false;
	row = option_named(line, c->word + 2, (size_t)(equals - c->word) - 2, &group);
	part.typed = equals + 1;
	if (row && row->argument)
		completion_offer_values(&part, line->sub, group, row);
	return true;
}

static void option_offer(const struct completion *c, const struct typed_line *line)
{
	if (!value_offer(c, line))
		options_offer(c, line);
}

/* Offers a word that is no option. */
static void word_offer(const struct completion *c, const struct typed_line *line)
{
	const struct subcommand_words *words = &line->sub->words;

	if (line->positions >= words->most && !words->first)
		return;
	if (!line->positions)
		for (const struct first_word *w = words->first; w && w->name; w++)
			completion_offer(c, w->name, NULL);
	if (words->offer)
		words->offer(c, line->positions ? line->first : NULL);
}

/* Returns the subcommand's group of options for the store, or NULL. */
static const struct option_group *store_group(const struct subcommand *sub)
{
	for (const struct option_group *g = sub->groups; g && g->rows; g++)
		if (g->rows == store_rows)
			return g;
	return NULL;
}

/* Sets the store by files and variables of @sub or, if it has none, of another subcommand. */
static void store_choose_default(struct completion *c, const struct subcommand *sub)
{
	const struct option_group *group = store_group(sub);
	void *options;

	for (size_t i = 0; !group && subcommands[i]; i++) {
		sub = subcommands[i];
		group = store_group(sub);
	}
	options = group ? memory_calloc(1, sub->options_bytes) : NULL;
	if (options && !options_from_files(sub, options) && !options_from_environment(sub, options))
		memcpy(&c->store, (char *)options + group->offset, sizeof(c->store));
	free(options);
}

/* Returns the value of @option, as in "--store", if word @i is that option; else NULL. */
static const char *typed_line_value(const struct typed_line *line, size_t i, const char *option)
{
	size_t length = strlen(option);
	const char *word = line->words[i];

	if (strncmp(word, option, length) != 0 || (word[length] && word[length] != '='))
		return NULL;
	return word[length] ? word + length + 1 : i + 1 < line->nr ? line->words[i + 1] : NULL;
}

/* Sets the store according to files, variables and the line. */
static void store_choose_typed(struct completion *c, const struct typed_line *line)
{
	const char *value;

	store_choose_default(c, line->sub);
	for (size_t i = 0; i < line->nr; i++) {
		if ((value = typed_line_value(line, i, "--store")))
			c->store.path = value;
		else if ((value = typed_line_value(line, i, "--agent")))
			c->store.agent = value;
		else if (!strcmp(line->words[i], "--node"))
			c->store.of_node = true;
	}
}

static void line_complete(struct typed_line *line, const char *word)
{
	struct completion c = { .typed = word, .word = word };
	bool is_first = line->nr == 0;

	typed_line_read(line);
	store_choose_typed(&c, line);
	if (line->command && line->sub->takes_command)
		printf(":command %zu\n", line->command);
	else if (!line->sub->name && line->positions)
		return; /* a command needs -- before it */
	else if (line->pending)
		completion_offer_values(&c, line->sub, line->group, line->pending);
	else if (*word == '-' && !line->command)
		option_offer(&c, line);
	else if (is_first)
		completion_offer_subcommands(&c, NULL);
	else
		word_offer(&c, line);
}

static void run_offer_id(const struct completion *c, const struct stored_runs *all, size_t i,
			 const char *prefix)
{
	const struct stored_run *r = &all->runs[i];
	char id[320], help[200];

	snprintf(id, sizeof(id), "%s%lld", prefix, (long long)r->id);
	snprintf(help, sizeof(help), "%s%s%.120s", r->name ? r->name : "", r->name ? ": " : "",
		 r->command ? r->command : "");
	completion_offer(c, id, help);
	run_offer_name(c, all, i, prefix);
}

static void run_offer_tag_keys(const struct completion *c, const struct stored_runs *all, size_t i,
			       const char *prefix)
{
	(void)prefix;
	for (const char *t = all->runs[i].tags; *t; t += strlen(t) + 1) {
		char *key = memory_strndup(t, strcspn(t, "="));

		if (key && !tag_is_known(all, i, t, strlen(key) + 1))
			completion_offer(c, key, NULL);
		free(key);
	}
}

void completion_offer_runs(const struct completion *c, const char *first)
{
	(void)first;
	completion_each_run(c, run_offer_id);
	completion_offer_own(c, "files");
}

void completion_offer_tag_keys(const struct completion *c)
{
	completion_each_run(c, run_offer_tag_keys);
}

struct completion completion_after(const struct completion *c, char mark)
{
	struct completion part = *c;
	const char *last = strrchr(c->typed, mark);

	if (last)
		part.typed = last + 1;
	return part;
}

void completion_print(char **words, size_t nr)
{
	struct typed_line line = { .words = words, .nr = nr - 1 };
	const struct subcommand *sub = line.nr ? subcommand_find(words[0]) : NULL;

	for (size_t i = 0; !line.sub && subcommands[i]; i++)
		if (!subcommands[i]->name)
			line.sub = subcommands[i];
	if (sub && sub->groups) {
		line.sub = sub;
		line.at = 1;
	}
	if (line.sub)
		line_complete(&line, words[nr - 1]);
}
