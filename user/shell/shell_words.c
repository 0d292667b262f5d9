// SPDX-License-Identifier: BSD-2-Clause
#include "shell/shell_words.h"

#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_OPTION "--span-name="
#define TAG_OPTION "--span-tag="

/* Returns true if @word is one of the wrapper's own options, which it reads. */
static bool wrapper_option_read(struct shell_words *w, const char *word)
{
	const char *equals;

	if (!strncmp(word, NAME_OPTION, strlen(NAME_OPTION))) {
		word += strlen(NAME_OPTION);
		w->name = *word ? word : NULL;
		return true;
	}
	if (strncmp(word, TAG_OPTION, strlen(TAG_OPTION)) != 0)
		return false;
	word += strlen(TAG_OPTION);
	equals = strchr(word, '=');
	if (equals && equals > word && w->nr_tags < MAX_SPAN_TAGS)
		w->tags[w->nr_tags++] = word;
	return true;
}

/* Returns how many arguments after @word are its values. Sets @is_text if it contains -c. */
static size_t option_nr_values(const char *word, bool *is_text)
{
	size_t nr = 0;

	if (word[1] == '-')
		return !strcmp(word, "--rcfile") || !strcmp(word, "--init-file");
	for (const char *c = word + 1; *c; c++) {
		nr += *c == 'o' || *c == 'O';
		*is_text |= *word == '-' && *c == 'c';
	}
	return nr;
}

static bool word_is_option(const char *word)
{
	return (*word == '-' || *word == '+') && word[1];
}

/* Options that do not matter for a single command that is executed as it is. */
static bool word_is_plain_option(const char *word)
{
	return *word == '-' && strspn(word + 1, "ceu") == strlen(word + 1);
}

void shell_words_parse(struct shell_words *w, char **argv)
{
	char **to = argv + 1, **from = argv + 1;
	bool is_text = false;
	size_t nr_values = 0;

	*w = (struct shell_words){ .is_plain = true };
	if (!*argv)
		return;
	for (; *from && (nr_values || word_is_option(*from)); from++) {
		if (nr_values) {
			nr_values--;
		} else if (wrapper_option_read(w, *from)) {
			continue;
		} else if (!strcmp(*from, "--")) {
			w->is_plain = false;
			*to++ = *from++;
			break;
		} else {
			w->is_plain &= word_is_plain_option(*from);
			nr_values = option_nr_values(*from, &is_text);
		}
		*to++ = *from;
	}
	if (*from && !strcmp(*from, "-"))
		w->is_plain = false, *to++ = *from++; /* ends the options, like "--" */
	w->is_plain &= is_text && *from && !from[1];
	if (is_text)
		w->text = *from;
	else
		w->script = *from;
	while ((*to++ = *from++))
		;
}

#define SCRIPT_BLANKS " \t\r"
#define SEPARATORS ";&|()\n"

struct text_word {
	const char *at;
	size_t n; /* 0 if there is none */
};

/* Words in front of a command. */
static const char *const prefixes[] = { "!",    "{",   "if",   "while", "until",
					"then", "do",  "else", "elif",  "builtin",
					"exec", "env", "time", "nohup", NULL };
/* Commands that only prepare for another. */
static const char *const preparing[] = { "set",   "cd",   "source", ".",      "export", "unset",
					 "umask", "trap", "shopt",  "ulimit", "echo",   "printf",
					 "test",  "true", "[",      "[[",     ":",      NULL };
static const char *const shells[] = { "sh", "bash", "dash", NULL };

static bool word_is_among(struct text_word w, const char *const *list)
{
	for (; *list; list++)
		if (text_is(w.at, w.n, *list))
			return true;
	return false;
}

/* Returns whether a word is NAME=... or NAME+=... */
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

/* Returns the end of the word at @at, including quoted text, $(...), ${...} and `...`. */
static const char *word_end(const char *at)
{
	unsigned depth = 0;
	char quote = '\0';

	for (; *at; at++) {
		if (!quote && !depth &&
		    (strchr(SCRIPT_BLANKS SEPARATORS "<>", *at) || is_line_continued(at)))
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
		else if (!*at || !strchr(SCRIPT_BLANKS, *at))
			return at;
	}
}

/* Returns the first word of the next command, or the end of the text. */
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

/* Returns the separator after the command that continues at @at, or the end of the text. */
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

/* Strips folders and surrounding quotes. */
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

/* Returns the program of the command at *@at; the script, if that is a shell. */
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

#define PATH_WITHOUT_VARIABLE "/usr/bin:/bin"

/* Executes @path unless it is this program. Returns a negative errno. */
static int program_try_execute(const char *path, char **argv)
{
	struct stat self, other;

	if (stat(path, &other))
		return -errno;
	if (!stat("/proc/self/exe", &self) && self.st_dev == other.st_dev &&
	    self.st_ino == other.st_ino)
		return -ENOENT;
	execv(path, argv);
	return -errno;
}

/*
 * Executes the first program @name in PATH that is not this one. Returns a negative errno if there
 * is none, or it cannot be executed.
 */
static int path_execute(const char *name, char **argv)
{
	const char *folder = getenv("PATH");
	char path[PATH_MAX];
	int err = -ENOENT;

	if (!folder)
		folder = PATH_WITHOUT_VARIABLE;
	for (size_t n;; folder += n + 1) {
		n = strcspn(folder, ":");
		if ((size_t)snprintf(path, sizeof(path), "%.*s/%s", n ? (int)n : 1,
				     n ? folder : ".", name) < sizeof(path))
			err = program_try_execute(path, argv);
		if (!folder[n] || (err != -ENOENT && err != -ENOTDIR && err != -EACCES))
			return err;
	}
}

int real_shell_execute(char **argv, bool was_wrapper)
{
	int err = program_try_execute(REAL_SHELL, argv);

	if (err != -E2BIG && !was_wrapper)
		err = path_execute("bash", argv);
	if (err != -E2BIG)
		err = program_try_execute("/bin/sh", argv);
	if (err != -E2BIG)
		err = path_execute("sh", argv);
	return err;
}

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./=-"
#define BLANKS " \t"

/* Builtins of bash 5, and its keywords of plain characters. */
static const char *const own_words[] = {
	".",       ":",      "alias",   "bg",       "bind",    "break",     "builtin",  "caller",
	"case",    "cd",     "command", "compgen",  "compopt", "complete",  "continue", "coproc",
	"declare", "dirs",   "disown",  "do",       "done",    "echo",      "elif",     "else",
	"enable",  "esac",   "eval",    "exec",     "exit",    "export",    "false",    "fc",
	"fg",      "fi",     "for",     "function", "getopts", "hash",      "help",     "history",
	"if",      "in",     "jobs",    "kill",     "let",     "local",     "logout",   "mapfile",
	"popd",    "printf", "pushd",   "pwd",      "read",    "readarray", "readonly", "return",
	"select",  "set",    "shift",   "shopt",    "source",  "suspend",   "test",     "then",
	"time",    "times",  "trap",    "true",     "type",    "typeset",   "ulimit",   "umask",
	"unalias", "unset",  "until",   "wait",     "while",   NULL,
};

static bool word_is_builtin(const char *word)
{
	for (const char *const *own = own_words; *own; own++)
		if (!strcmp(word, *own))
			return true;
	return false;
}

/* Assignments, job control (%) and builtins need a shell. */
static bool word_is_program(const char *word)
{
	return word && !strpbrk(word, "=%") && !word_is_builtin(word);
}

static bool command_split(struct simple_command *c, const char *text)
{
	size_t nr = 0;
	char *rest;

	c->text = rest = memory_strdup(text);
	c->words = memory_calloc(strlen(text) / 2 + 2, sizeof(*c->words));
	if (!c->text || !c->words)
		return false;
	for (char *word; (word = strsep(&rest, BLANKS));)
		if (*word)
			c->words[nr++] = word;
	return word_is_program(c->words[0]);
}

bool simple_command_read(struct simple_command *c, const struct shell_words *w)
{
	*c = (struct simple_command){ 0 };
	if (!w->is_plain || !w->text || strspn(w->text, PLAIN BLANKS) != strlen(w->text))
		return false;
	if (command_split(c, w->text))
		return true;
	simple_command_done(c);
	return false;
}

void simple_command_done(struct simple_command *c)
{
	free(c->words);
	free(c->text);
	*c = (struct simple_command){ 0 };
}

/* Returns whether bash would read a file, options or functions before the text. */
static bool environment_is_for_bash(void)
{
	if (!getenv("PATH") || getenv("BASH_ENV") || getenv("SHELLOPTS") || getenv("BASHOPTS"))
		return true;
	for (char **variable = environ; *variable; variable++)
		if (!strncmp(*variable, "BASH_FUNC_", strlen("BASH_FUNC_")))
			return true;
	return false;
}

void simple_command_execute(const struct simple_command *c)
{
	if (environment_is_for_bash())
		return;
	if (strchr(c->words[0], '/'))
		execv(c->words[0], c->words);
	else
		path_execute(c->words[0], c->words);
}
