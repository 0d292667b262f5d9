/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options: each subcommand has rows of its own. Parser, variables of the environment, help, manual
 * and completion come from them.
 */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_OPTIONS 64 /* of one subcommand */

/* What a sudoers rule can rely on. */
enum option_guard {
	GUARD_NONE,
	GUARD_ENVIRONMENT, /* chooses paths, targets or rights: under sudo no variable stands for it
			    */
	GUARD_USER,        /* chooses users: that, and not after --user */
	GUARD_LOWERS,      /* --user itself: from there on no option chooses a user */
	GUARD_TEST,        /* falsifies an account, for tests: no variable, and not in the help */
};

struct option_row {
	const char *name;     /* long, without dashes; NULL: after the last row */
	char key;             /* short; 0: none */
	const char *argument; /* NULL: takes none */
	bool argument_is_optional;
	const char *help;
	/* Puts @text (NULL: no argument) into @value. -EINVAL; -E2BIG: a run has no more tags. */
	int (*parse)(void *value, const char *text);
	size_t offset; /* of the value in the struct that the rows fill in; 0: parse() takes that */
	enum option_guard guard;
};

/* Rows of one struct, which several subcommands may have. */
struct option_group {
	const struct option_row *rows; /* NULL: after the last group */
	size_t offset;                 /* of the struct in that of the subcommand */
	bool has_variables;            /* BPFMON_... stand for them */
};

/* What the struct of every subcommand with options begins with. */
struct common_options {
	bool help, version;
	char **words; /* after the options, up to NULL; NULL with help or version */
};

struct subcommand;

/* The row @i of all groups of the subcommand, and its group; NULL: after the last. */
const struct option_row *option_at(const struct subcommand *sub, size_t i,
				   const struct option_group **group);
/*
 * Parses @text as the option's value into the subcommand's struct @options. -EINVAL after one line
 * to the user, which names @shown_as.
 */
int option_apply(void *options, const struct option_group *group, const struct option_row *row,
		 const char *text, const char *shown_as);
/* Applies the variables that are set. -EINVAL after one line to the user. */
int options_from_environment(const struct subcommand *sub, void *options);
/* Applies the command line, and sets the words behind it. -EINVAL after one line to the user. */
int options_from_line(const struct subcommand *sub, void *options, int argc, char **argv);
/* Both, into a struct that is cleared first. */
int options_parse(const struct subcommand *sub, void *options, int argc, char **argv);
/*
 * Parses as the subcommand does, and answers --help and --version. 1: go on; 0: that was all;
 * -EINVAL after one line to the user.
 */
int options_begin(const struct subcommand *sub, void *options, int argc, char **argv);
/* Prints the rows, those for tests aside. */
void options_print(const struct subcommand *sub);
/* -EINVAL, after the line "@what 'text'; see --help". */
int options_refuse(const char *what, const char *text);

#endif
