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

/* Assignments, jobs and the shell's own commands are for a shell. */
static bool word_is_program(const char *word)
{
	return word && !strpbrk(word, "=%") && !word_is_own(word);
}

static bool command_split(struct simple_command *c, const char *text)
{
	size_t nr = 0;
	char *rest;

	c->text = rest = strdup(text);
	c->words = calloc(strlen(text) / 2 + 2, sizeof(*c->words));
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

void simple_command_execute(const struct simple_command *c)
{
	if (environment_is_for_bash())
		return;
	if (strchr(c->words[0], '/'))
		execv(c->words[0], c->words);
	else
		path_execute(c->words[0], c->words);
}
