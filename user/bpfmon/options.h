/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options: each subcommand has rows of its own. Parser, variables of the environment, help, manual
 * and completion come from them.
 */
#ifndef BPFMON_OPTIONS_H
#define BPFMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_OPTIONS 64 /* of one subcommand */

/*
 * What a sudoers rule, and a user in a folder of another one, can rely on. The file of a project
 * comes with a clone: it sets only what can neither end, hide nor burden a run.
 */
enum option_guard {
	PROJECT_MAY_AS_ROOT = -2, /* the file of a project sets it, for root, too */
	PROJECT_MAY,              /* the file of a project sets it, but not for root */
	GUARD_NONE,        /* a variable or the user's own file stands for it, no project's */
	GUARD_ENVIRONMENT, /* chooses paths, targets or rights, or removes runs: under sudo no
			    * variable and no file stands for it */
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
	/* Puts @text (NULL: no argument) into @value. -EINVAL; -E2BIG: a run has no more
	 * tags; -ENAMETOOLONG: it has RUN_WORD_BYTES. */
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
	int colour;           /* enum colour_choice */
	char **words;         /* after the options, up to NULL; NULL with help or version */
	bool is_after_dashes; /* a -- is before these words */
};

struct subcommand;

/* Whether it chooses what a sudoers rule decides on. */
bool option_is_guarded(const struct option_row *row);
/* The row @i of all groups of the subcommand, and its group; NULL: after the last. */
const struct option_row *option_at(const struct subcommand *sub, size_t i,
				   const struct option_group **group);
/*
 * Parses @text as the option's value into the subcommand's struct @options. -EINVAL after one line
 * to the user, which names @shown_as.
 */
int option_apply(void *options, const struct option_group *group, const struct option_row *row,
		 const char *text, const char *shown_as);
/*
 * Applies what the user's file and the project's say (settings.h), but for options whose variable
 * is set. -EINVAL after one line to the user.
 */
int options_from_files(const struct subcommand *sub, void *options);
/* Whether a variable stands for the option, even one that takes it back: BPFMON_QUIET=0. */
bool option_has_variable(const struct option_row *row);
/* Applies the variables that are set. -EINVAL after one line to the user. */
int options_from_environment(const struct subcommand *sub, void *options);
/* Applies the command line, and sets the words behind it. -EINVAL after one line to the user. */
int options_from_line(const struct subcommand *sub, void *options, int argc, char **argv);
/* All three, into a struct that is cleared first. */
int options_parse(const struct subcommand *sub, void *options, int argc, char **argv);
/*
 * Parses as the subcommand does, and answers --help and --version. 1: go on; 0: that was all;
 * -EINVAL after one line to the user.
 */
int options_begin(const struct subcommand *sub, void *options, int argc, char **argv);
/* Prints the rows, those for tests aside. */
void options_print(const struct subcommand *sub);

/* The title of the group that has these rows, and of the untitled ones behind it. */
struct option_title {
	const struct option_row *rows; /* NULL: after the last title */
	const char *title;
};

/* The same, with an empty line and the title before each group that has one. */
void options_print_titled(const struct subcommand *sub, const struct option_title *titles);
/* -EINVAL, after the line "@what 'text'; see --help". */
int options_refuse(const char *what, const char *text);

#endif
