// SPDX-License-Identifier: BSD-2-Clause
#include "options/mistakes.h"

#include "base/log.h"
#include "base/nearest.h"
#include "base/text.h"
#include "options/common_options.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LINE_BYTES 400 /* of a suggested line; a longer one is truncated with "..." */

/* A command line under construction. */
struct shown_line {
	char text[LINE_BYTES];
	size_t used;
	bool is_cut;
};

static void shown_put(struct shown_line *l, const char *text)
{
	size_t n = strlen(text);

	if (l->is_cut)
		return;
	l->is_cut = l->used + n + sizeof(" ...") > sizeof(l->text);
	if (l->is_cut)
		text = "...", n = strlen(text);
	memcpy(l->text + l->used, text, n + 1);
	l->used += n;
}

/* Appends a blank and the word, quoted for a shell. */
static void shown_put_word(struct shown_line *l, const char *word)
{
	static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				    "0123456789%+,-./:=@_~";
	char letter[] = " ";

	shown_put(l, " ");
	if (*word && !word[strspn(word, plain)] && *word != '~') {
		shown_put(l, word);
		return;
	}
	shown_put(l, "'");
	for (; *word && !l->is_cut; word++) {
		letter[0] = *word;
		shown_put(l, *word == '\'' ? "'\\''" : letter);
	}
	shown_put(l, "'");
}

static void shown_put_words(struct shown_line *l, char **from, char **to)
{
	for (; to ? from < to : *from != NULL; from++)
		shown_put_word(l, *from);
}

/* Appends the whole line, with "--" before the command @word. */
static void shown_put_run(struct shown_line *l, char **argv, char **word)
{
	shown_put(l, "bpfmon");
	shown_put_words(l, argv + 1, word);
	shown_put(l, " --");
	shown_put_words(l, word, NULL);
}

/* Returns true if the list @names, separated by blanks, contains @word. */
static bool names_have(const char *names, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = names; at && n && (at = strstr(at, word)); at += n)
		if ((at == names || at[-1] == ' ') && (!at[n] || at[n] == ' '))
			return true;
	return false;
}

/* Writes what to type into @meant if @typed is an alias of @sub or one of its first words. */
static bool subcommand_match_alias(const struct subcommand *sub, const char *typed, char meant[64])
{
	if (names_have(sub->aliases, typed)) {
		snprintf(meant, 64, "%s", sub->name);
		return true;
	}
	for (const struct first_word *w = sub->words.first; w && w->name; w++)
		if (!strcmp(w->name, typed) || names_have(w->aliases, typed)) {
			snprintf(meant, 64, "%s %s", sub->name, w->name);
			return true;
		}
	return false;
}

/*
 * Guesses an option, an alias or a mistyped subcommand. Returns @meant, or NULL if there is none.
 */
static const char *subcommand_guess(const char *typed, char meant[64])
{
	struct nearest n;

	for (const struct option_row *row = common_rows; row->name; row++)
		if (!strcmp(row->name, typed)) {
			snprintf(meant, 64, "--%s", typed);
			return meant;
		}
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if ((*sub)->name && subcommand_match_alias(*sub, typed, meant))
			return meant;
	nearest_begin(&n, typed, strlen(typed));
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if ((*sub)->name && (*sub)->summary) /* listed by --help */
			nearest_offer(&n, (*sub)->name);
	if (n.word)
		snprintf(meant, 64, "%s", n.word);
	return n.word ? meant : NULL;
}

/* Returns true if @typed is an alias of a run, which has no name in bpfmon: a command follows. */
static bool word_is_run_alias(const char *typed)
{
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if (!(*sub)->name && names_have((*sub)->aliases, typed))
			return true;
	return false;
}

static const struct option_row *option_of_name(const struct subcommand *sub, const char *name,
					       size_t length)
{
	const struct option_group *group;
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(sub, i, &group)); i++)
		if (text_is(name, length, row->name) && row->guard != GUARD_TEST)
			return row;
	return NULL;
}

/* Returns true if the subcommand has all words that look like options, values included. */
static bool subcommand_has_options(const struct subcommand *sub, char **from, char **to)
{
	const struct option_group *group;
	const struct option_row *row;
	bool has = true;

	for (; has && from < to; from++) {
		const char *word = *from;

		if (word[0] != '-')
			continue;
		if (word[1] == '-') {
			has = option_of_name(sub, word + 2, strcspn(word + 2, "=")) != NULL;
			continue;
		}
		has = false;
		for (size_t i = 0; !has && (row = option_at(sub, i, &group)); i++)
			has = row->key && row->key == word[1];
	}
	return has;
}

/* Refuses a subcommand after options; suggests moving the options after it if it has them. */
static int subcommand_refuse_behind(const struct subcommand *sub, char **argv, char **word)
{
	struct shown_line run = { 0 }, line = { 0 };

	shown_put(&line, "bpfmon");
	shown_put_word(&line, sub->name);
	if (!subcommand_has_options(sub, argv + 1, word)) {
		shown_put_words(&line, word + 1, NULL);
		shown_put_run(&run, argv, word);
		log_error("the subcommand '%s' must come first and does not have these options; "
			  "try: %s; to run a program of that name: %s",
			  sub->name, line.text, run.text);
		return -EINVAL;
	}
	shown_put_words(&line, argv + 1, word);
	shown_put_words(&line, word + 1, NULL);
	log_error("options must follow the subcommand: %s", line.text);
	return -EINVAL;
}

int mistaken_command_refuse(char **argv, char **word)
{
	const struct subcommand *sub = subcommand_find(*word);
	bool is_first = word == argv + 1;
	char meant[64];
	const char *guess = subcommand_guess(*word, meant);
	struct shown_line line = { 0 };

	if (sub)
		return subcommand_refuse_behind(sub, argv, word);
	if (is_first && word_is_run_alias(*word) && word[1]) {
		shown_put(&line, "bpfmon --");
		shown_put_words(&line, word + 1 + !strcmp(word[1], "--"), NULL);
		log_error("there is no '%s' subcommand; use: %s", *word, line.text);
		return -EINVAL;
	}
	shown_put_run(&line, argv, word);
	if (guess)
		log_error("unknown subcommand '%s'; did you mean '%s'? To run a program of that "
			  "name: %s",
			  *word, guess, line.text);
	else if (is_first)
		log_error("unknown subcommand '%s'; to run a program of that name: %s", *word,
			  line.text);
	else
		log_error("the command must follow '--': %s", line.text);
	return -EINVAL;
}

int mistaken_subcommand_refuse(const char *word)
{
	char meant[64];
	const char *guess = subcommand_guess(word, meant);

	if (guess)
		log_error("unknown subcommand '%s'; did you mean '%s'?", word, guess);
	else
		log_error("unknown subcommand '%s'; see 'bpfmon --help'", word);
	return -EINVAL;
}

/* Returns another subcommand with the option (a run is one without a name), or NULL. */
static const struct subcommand *subcommand_with_option(const struct subcommand *but,
						       const char *name, size_t length)
{
	for (const struct subcommand *const *sub = subcommands; *sub; sub++)
		if (*sub != but && option_of_name(*sub, name, length))
			return *sub;
	return NULL;
}

static const char *option_guess(const struct subcommand *sub, const char *name, size_t length)
{
	const struct option_group *group;
	const struct option_row *row;
	struct nearest n;

	nearest_begin(&n, name, length);
	for (size_t i = 0; (row = option_at(sub, i, &group)); i++)
		if (row->guard != GUARD_TEST)
			nearest_offer(&n, row->name);
	return n.word;
}

int mistaken_option_refuse(const struct subcommand *sub, const char *word)
{
	const char *name = word + strspn(word, "-"), *guess;
	size_t length = strcspn(name, "=");
	const struct subcommand *other;

	guess = option_guess(sub, name, length);
	if (guess) {
		log_error("unknown option '%s'; did you mean '--%s'?", word, guess);
		return -EINVAL;
	}
	other = subcommand_with_option(sub, name, length);
	if (!other)
		return options_refuse("unknown option", word);
	if (other->name)
		log_error("option '%s' is not valid here; 'bpfmon %s' has it", word, other->name);
	else
		log_error("option '%s' is not valid here; it is for runs: bpfmon [OPTIONS] -- "
			  "COMMAND",
			  word);
	return -EINVAL;
}

int mistaken_letter_refuse(const struct subcommand *sub, const char *letter, const char *word)
{
	const char *guess = NULL;

	if (word[0] == '-' && word[1] && word[2])
		guess = option_guess(sub, word + 1, strcspn(word + 1, "="));
	if (!guess)
		return options_refuse("unknown option", letter);
	log_error("unknown option '%s'; did you mean '--%s'?", word, guess);
	return -EINVAL;
}
