// SPDX-License-Identifier: BSD-2-Clause
#include "shell/simple_command.h"

#include "shell/real_shell.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_@%+:,./=-"
#define BLANKS " \t"

/* What bash 5 executes itself, and its keywords of plain characters. */
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

static bool word_is_own(const char *word)
{
	for (const char *const *own = own_words; *own; own++)
		if (!strcmp(word, *own))
			return true;
	return false;
}

/* The first word is the beginning of a copy of the text, which begins with no blank. */
static char **text_split(const char *text)
{
	size_t n = strlen(text), nr = 0;
	char **words = calloc(n / 2 + 2, sizeof(*words));
	char *copy = words ? strdup(text) : NULL;

	if (!copy) {
		free(words);
		return NULL;
	}
	for (char *rest = copy, *word; (word = strtok_r(rest, BLANKS, &rest));)
		words[nr++] = word;
	return words;
}

char **simple_command_split(const struct shell_words *w)
{
	const char *text = w->is_plain ? w->text : NULL;
	char **words;

	if (!text || strspn(text, PLAIN BLANKS) != strlen(text))
		return NULL;
	text += strspn(text, BLANKS);
	words = *text ? text_split(text) : NULL;
	/* an assignment, a job; for a shell alone */
	if (words && !strpbrk(words[0], "=%") && !word_is_own(words[0]))
		return words;
	simple_command_free(words);
	return NULL;
}

void simple_command_free(char **words)
{
	if (words)
		free(words[0]);
	free(words);
}

/* Whether bash would read a file, options or functions before the text. */
static bool environment_is_for_bash(void)
{
	if (!getenv("PATH") || getenv("BASH_ENV") || getenv("SHELLOPTS") || getenv("BASHOPTS"))
		return true;
	for (char **variable = environ; *variable; variable++)
		if (!strncmp(*variable, "BASH_FUNC_", strlen("BASH_FUNC_")))
			return true;
	return false;
}

void simple_command_execute(char **words)
{
	if (environment_is_for_bash())
		return;
	if (strchr(words[0], '/'))
		execv(words[0], words);
	else
		path_execute(words[0], words);
}
