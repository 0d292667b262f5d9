// SPDX-License-Identifier: BSD-2-Clause
#include "shell/first_word.h"

#include "base/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#define BLANKS " \t\r"
#define SEPARATORS ";&|()\n"

struct text_word {
	const char *at;
	size_t n; /* 0: there is none */
};

/* Words in front of a command. */
static const char *const prefixes[] = { "!",    "{",   "if",   "while", "until",
					"then", "do",  "else", "elif",  "builtin",
					"exec", "env", "time", "nohup", NULL };
/* Commands that prepare for another. */
static const char *const preparing[] = { "set",   "cd",   "source", ".",      "export", "unset",
					 "umask", "trap", "shopt",  "ulimit", "echo",   "printf",
					 "test",  "true", "[",      "[[",     ":",      NULL };
static const char *const shells[] = { "sh", "bash", "dash", NULL };

static bool word_is_among(struct text_word w, const char *const *list)
{
	for (; *list; list++)
		if (strlen(*list) == w.n && !memcmp(*list, w.at, w.n))
			return true;
	return false;
}

/* Whether a variable gets a value: NAME=..., NAME+=... */
static bool word_is_assignment(struct text_word w)
{
	size_t n = 0;

	while (n < w.n && (isalnum((unsigned char)w.at[n]) || w.at[n] == '_'))
		n++;
	if (!n || isdigit((unsigned char)*w.at) || n == w.n)
		return false;
	return w.at[n] == '=' || (w.at[n] == '+' && n + 1 < w.n && w.at[n + 1] == '=');
}

static bool is_line_continued(const char *at)
{
	return at[0] == '\\' && at[1] == '\n';
}

/* The end of the word at @at, of which quoted text, $(...), ${...} and `...` are part. */
static const char *word_end(const char *at)
{
	unsigned depth = 0;
	char quote = '\0';

	for (; *at; at++) {
		if (!quote && !depth &&
		    (strchr(BLANKS SEPARATORS "<>", *at) || is_line_continued(at)))
			break;
		if (*at == '\\' && quote != '\'' && at[1])
			at++;
		else if (quote)
			quote = *at == quote ? '\0' : quote;
		else if (strchr("'\"`", *at))
			quote = *at;
		else if (*at == '$' && (at[1] == '(' || at[1] == '{'))
			depth++, at++;
		else if (depth && *at == '(')
			depth++;
		else if (depth && (*at == ')' || *at == '}'))
			depth--;
	}
	return at;
}

static const char *words_gap_end(const char *at)
{
	for (;; at++) {
		if (is_line_continued(at))
			at++;
		else if (!*at || !strchr(BLANKS, *at))
			return at;
	}
}

/* The first word of the next command, or the end of the text. */
static const char *command_begin(const char *at)
{
	for (;; at++) {
		at = words_gap_end(at);
		if (*at == '#')
			at += strcspn(at, "\n");
		if (!*at || !strchr(SEPARATORS, *at))
			return at;
	}
}

/* The separator after the command that goes on at @at, or the end of the text. */
static const char *command_end(const char *at)
{
	for (at = words_gap_end(at); *at && !strchr(SEPARATORS, *at); at = words_gap_end(at)) {
		if (*at == '<' || *at == '>')
			at += at[1] == '&' ? 2 : 1;
		else
			at = word_end(at);
	}
	return at;
}

static struct text_word word_take(const char **at)
{
	struct text_word w = { .at = words_gap_end(*at) };

	*at = word_end(w.at);
	w.n = (size_t)(*at - w.at);
	return w;
}

/* Without the folders, and quotes around it. */
static struct text_word word_base(struct text_word w)
{
	while (w.n && strchr("'\"", w.at[w.n - 1]))
		w.n--;
	for (size_t i = w.n; i-- > 0;) {
		if (!strchr("/'\"", w.at[i]) || i + 1 == w.n)
			continue;
		w.at += i + 1;
		w.n -= i + 1;
		break;
	}
	return w;
}

/* The program that the command at *@at executes; that of a script for a shell. */
static struct text_word program_take(const char **at)
{
	struct text_word w = word_take(at), script;
	bool is_prefixed = false;

	while (w.n && (word_is_assignment(w) || word_is_among(w, prefixes) ||
		       (is_prefixed && *w.at == '-'))) {
		is_prefixed |= word_is_among(w, prefixes);
		w = word_take(at);
	}
	w = word_base(w);
	if (!word_is_among(w, shells))
		return w;
	script = word_take(at);
	return script.n && *script.at != '-' ? word_base(script) : w;
}

void first_word_copy(const char *text, char *out, size_t size)
{
	struct text_word found = { .at = text };

	for (const char *at = command_begin(text); *at; at = command_begin(command_end(at))) {
		struct text_word w = program_take(&at);

		if (!found.n)
			found = w;
		if (w.n && !word_is_among(w, preparing)) {
			found = w;
			break;
		}
	}
	plain_text_copy(found.at, found.n, out, size);
}

void plain_text_copy(const char *text, size_t n, char *out, size_t size)
{
	if (n > size - 1) {
		n = size - 1;
		while (n && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--; /* back to the first byte of the character */
	}
	memcpy(out, text, n);
	out[n] = '\0';
	text_disarm(out);
}
