// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon complete -- WORD...: what a shell may offer for the last of the words that follow "bpfmon"
 * on its command line. For docs/completion; in no help.
 */
#include "bpfmon/completion.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The line up to the word that is being typed. */
struct typed_line {
	const struct subcommand *sub;
	char **words;
	size_t nr, at;    /* the words before it, and the next of them to be looked at */
	size_t positions; /* words that are no options */
	const char *first;
	const struct option_group *group;
	const struct option_row *pending; /* the option whose value it is, of @group; or NULL */
	size_t command;                   /* where a command begins; 0: there is none */
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
		if (!strncmp(row->name, name, length) && !row->name[length])
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

/* --name, --name=value, -n: the next word is a value of some of these. */
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

static void subcommands_offer(const struct completion *c)
{
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
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

/* Whether a command follows --. */
static bool line_takes_command(const struct typed_line *line)
{
	return !line->sub->name || line->sub->becomes_command || line->sub == &subcommand_bench;
}

/* The value in --option=value. */
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

static void completion_offer_each(const struct completion *c, const char *const *words)
{
	for (; *words; words++)
		completion_offer(c, *words, NULL);
}

/* A word that is no option. */
static void word_offer(const struct completion *c, const struct typed_line *line)
{
	static const char *const of_runs[] = { "show",    "top",  "report", "export",
					       "compare", "like", "edit" };
	static const char *const acts[] = { "prune", "remove", "check", "merge", NULL };
	static const char *const ends[] = { "begin", "end", NULL };
	const char *name = line->sub->name ? line->sub->name : "";

	for (size_t i = 0; i < sizeof(of_runs) / sizeof(*of_runs); i++)
		if (!strcmp(of_runs[i], name)) {
			completion_offer_runs(c);
			completion_offer_own(c, "files");
		}
	if (!strcmp(name, "why")) {
		completion_offer_pids(c);
		completion_offer_names(c);
	} else if (!strcmp(name, "store") && !line->positions) {
		completion_offer_each(c, acts);
	} else if (!strcmp(name, "store") && !strcmp(line->first, "remove")) {
		completion_offer_runs(c);
	} else if (!strcmp(name, "store") && !strcmp(line->first, "merge")) {
		completion_offer_own(c, "files");
	} else if (!strcmp(name, "span") && !line->positions) {
		completion_offer_each(c, ends);
	} else if (!strcmp(name, "help") && !line->positions) {
		subcommands_offer(c);
	}
}

/* The store as files, variables and the line choose it. */
static void store_choose_typed(struct completion *c, const struct typed_line *line)
{
	void *options = calloc(1, subcommand_list.options_bytes);

	if (options && !options_from_files(&subcommand_list, options) &&
	    !options_from_environment(&subcommand_list, options))
		for (const struct option_group *g = subcommand_list.groups; g->rows; g++)
			if (g->rows == store_rows)
				memcpy(&c->store, (char *)options + g->offset, sizeof(c->store));
	free(options);
	for (size_t i = 0; i < line->nr; i++) {
		if (!strcmp(line->words[i], "--store") && i + 1 < line->nr)
			c->store.path = line->words[i + 1];
		else if (!strncmp(line->words[i], "--store=", 8))
			c->store.path = line->words[i] + 8;
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
	if (line->command && line_takes_command(line))
		printf(":command %zu\n", line->command);
	else if (!line->sub->name && line->positions)
		return; /* no command begins without -- */
	else if (line->pending)
		completion_offer_values(&c, line->sub, line->group, line->pending);
	else if (*word == '-' && !line->command)
		option_offer(&c, line);
	else if (is_first)
		subcommands_offer(&c);
	else
		word_offer(&c, line);
}

static int cmd_complete(int argc, char **argv)
{
	struct typed_line line = { .sub = &subcommand_run };
	const struct subcommand *sub;

	if (argc < 3 || strcmp(argv[1], "--") != 0) {
		log_error("complete is for shells: see docs/completion");
		return EXIT_USAGE;
	}
	line.words = argv + 2;
	line.nr = (size_t)argc - 3;
	sub = line.nr ? subcommand_find(line.words[0]) : NULL;
	if (sub && sub->groups) {
		line.sub = sub;
		line.at = 1;
	}
	line_complete(&line, argv[argc - 1]);
	return fflush(stdout) || ferror(stdout) ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_complete = {
	.name = "complete",
	.run = cmd_complete,
};
