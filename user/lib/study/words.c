// SPDX-License-Identifier: BSD-2-Clause
#include "study/words.h"

#include "base/memory.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Characters that need no quotes in any shell. */
#define PLAIN                                                                                      \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"                           \
	"%+,-./:=@_"

void words_free(char **words)
{
	for (char **w = words; w && *w; w++)
		free(*w);
	free(words);
}

/*
 * Writes the word at *@at to @out and advances *@at to its end. Returns 0, or -EINVAL if a quote is
 * not closed.
 */
static int word_split(const char **at, char *out)
{
	const char *c = *at;
	char quote = 0;

	for (; *c && (quote || !strchr(" \t\n", *c)); c++) {
		if (quote && *c == quote)
			quote = 0;
		else if (!quote && (*c == '\'' || *c == '"'))
			quote = *c;
		else if (*c == '\\' && c[1] && quote != '\'' && (!quote || strchr("\\\"$`", c[1])))
			*out++ = *++c;
		else
			*out++ = *c;
	}
	*out = '\0';
	*at = c;
	return quote ? -EINVAL : 0;
}

static int words_fill(char **words, const char *text)
{
	size_t nr = 0;
	int err = 0;

	while (!err && *(text += strspn(text, " \t\n"))) {
		words[nr] = memory_malloc(strlen(text) + 1);
		err = words[nr] ? word_split(&text, words[nr]) : -ENOMEM;
		nr += words[nr] != NULL;
	}
	return err ? err : nr ? 0 : -EINVAL;
}

char **words_split(const char *text)
{
	char **words = memory_calloc(strlen(text) / 2 + 2, sizeof(*words));
	int err = words ? words_fill(words, text) : -ENOMEM;

	if (!err)
		return words;
	words_free(words);
	errno = -err;
	return NULL;
}

char **words_copy(char *const *words)
{
	size_t nr = 0;
	char **copy;

	while (words[nr])
		nr++;
	copy = memory_calloc(nr + 1, sizeof(*copy));
	for (size_t i = 0; copy && i < nr; i++) {
		copy[i] = memory_strdup(words[i]);
		if (!copy[i]) {
			words_free(copy);
			return NULL;
		}
	}
	return copy;
}

char **words_by_shell(const char *shell, const char *command)
{
	char **words = words_split(shell), **all;
	size_t nr = 0;

	while (words && words[nr])
		nr++;
	all = words ? memory_reallocarray(words, nr + 3, sizeof(*words)) : NULL;
	if (!all) {
		words_free(words);
		return NULL;
	}
	all[nr] = memory_strdup("-c");
	all[nr + 1] = all[nr] ? memory_strdup(command) : NULL;
	all[nr + 2] = NULL;
	if (all[nr + 1])
		return all;
	words_free(all);
	errno = ENOMEM;
	return NULL;
}

static void word_quote(FILE *f, const char *word)
{
	if (*word && !word[strspn(word, PLAIN)]) {
		fputs(word, f);
		return;
	}
	fputc('\'', f);
	for (; *word; word++)
		if (*word == '\'')
			fputs("'\\''", f);
		else
			fputc(*word, f);
	fputc('\'', f);
}

char *words_quote(char *const *words)
{
	char *out = NULL;
	size_t room;
	FILE *f = memory_open_memstream(&out, &room);

	if (!f)
		return NULL;
	for (size_t i = 0; words[i]; i++) {
		if (i)
			fputc(' ', f);
		word_quote(f, words[i]);
	}
	if (!fclose(f))
		return out;
	free(out);
	return NULL;
}
