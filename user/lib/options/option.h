/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options and subcommands as rows of tables. Parser, environment variables, files, help, manual,
 * completion and corrections are derived from them.
 */
#ifndef OPTIONS_OPTION_H
#define OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_OPTIONS 64 /* per subcommand */
#define ANY_WORDS (~0U)

struct completion;

/*
 * Protects sudoers rules, and users in a folder of another user. A project's file comes with a
 * clone: it may only set options that cannot end, hide or burden a run.
 */
enum option_guard {
	PROJECT_MAY_AS_ROOT = -2, /* a project's file may set it, for root too */
	PROJECT_MAY,              /* a project's file may set it, but not for root */
	GUARD_NONE,        /* variables and the user's own file may set it, no project's file */
	GUARD_ENVIRONMENT, /* sets paths, targets, rights; removes runs: ignored under sudo unless
			      on the command line */
	GUARD_USER,        /* chooses users: like GUARD_ENVIRONMENT, and not allowed after --user */
	GUARD_LOWERS,      /* --user itself: no option may choose a user after it */
	GUARD_TEST,        /* falsifies an account, for tests: no variable, not in the help */
};

struct option_row {
	const char *name;     /* long name without dashes; NULL: end of the table */
	char key;             /* short name; 0: none */
	const char *argument; /* name of the argument; NULL: none */
	bool argument_is_optional;
	const char *help;
	/*
	 * Parses @text (NULL if there is no argument) into @value. Returns 0, -EINVAL after
	 * value_refuse(), -E2BIG if the run has too many tags, or -ENAMETOOLONG for RUN_WORD_BYTES
	 * or more.
	 */
	int (*parse)(void *value, const char *text);
	size_t offset; /* of the value in the struct; 0 also if parse() takes the struct */
	enum option_guard guard;
};

/* Rows of one struct, which several subcommands may share. */
struct option_group {
	const struct option_row *rows; /* NULL: end of the table */
	size_t offset;                 /* of that struct in the struct of the subcommand */
	bool has_variables;            /* variables BPFMON_... set these options */
};

/* Properties of all options with the same parser. */
struct value_kind {
	int (*parse)(void *value, const char *text); /* NULL: end of the table */
	/*
	 * Returns what @text, which parse() has refused, probably meant, or NULL. In a list that is
	 * the word *@bad of *@length bytes, which are all of @text before the call. May be NULL.
	 */
	const char *(*guess)(const char *text, const char **bad, size_t *length);
	void (*offer)(const struct completion *c); /* completes a value; NULL: see completion.c */
};

/* First member of the struct of every subcommand with options. */
struct common_options {
	bool help, version;
	int colour;   /* enum colour_choice */
	char **words; /* words after the options, NULL-terminated; NULL with help or version */
	bool is_after_dashes; /* -- precedes the words */
};

/* A word that may stand first after the options. */
struct first_word {
	const char *name;    /* NULL: end of the table */
	const char *aliases; /* alternative names, separated by blanks; NULL: none */
	unsigned most;       /* maximum number of words after it */
};

/* The words that a subcommand takes. */
struct subcommand_words {
	unsigned most;                  /* maximum number, unless @first has one */
	const struct first_word *first; /* special first words; NULL: none */
	bool takes_other_first;         /* the first word may also be any other */
	/* Completes a word after @first, or the first word if @first is NULL. May be NULL. */
	void (*offer)(const struct completion *c, const char *first);
};

/* Sections of the list in `bpfmon --help`. */
enum subcommand_part { PART_RECORDS, PART_READS, PART_INFORMS };

struct subcommand {
	const char *name;    /* NULL: a run, `bpfmon -- COMMAND` */
	const char *aliases; /* names in other programs, separated by blanks; NULL: none */
	const char *summary; /* its line in `bpfmon --help`; NULL: not listed */
	enum subcommand_part part;
	struct subcommand_words words;
	bool takes_command;   /* a command follows -- */
	bool loads_programs;  /* uses the file capabilities that bpfmon may have */
	bool is_role;         /* a job depends on it: it continues after a failed allocation */
	bool becomes_command; /* execs the command itself: must not change inherited state */
	bool ends_at_word;    /* the first word that is no option ends the options */
	/* Returns the exit status. argv[0] is its name. main() flushes stdout and checks it. */
	int (*run)(int argc, char **argv);
	/* 0 and NULL for a subcommand without options: */
	const struct option_group *groups; /* in the order of the help */
	size_t options_bytes; /* size of its struct, which begins with struct common_options */
	int (*parse)(void *options, int argc, char **argv); /* 0, or -EINVAL */
	void (*help)(void);
};

/* Tables that the program defines, in the order of the help, NULL-terminated. */
extern const struct subcommand *const subcommands[];
extern const struct value_kind value_kinds[];

/* Returns the subcommand of that name, or NULL. */
const struct subcommand *subcommand_find(const char *name);
/* Returns the index of @word in the first words of @sub, or -1. */
int first_word_find(const struct subcommand *sub, const char *word);
/* Returns the kind of the row's values, or NULL. */
const struct value_kind *value_kind_of(const struct option_row *row);

/* Returns row @i of all groups of the subcommand and sets its group; NULL after the last row. */
const struct option_row *option_at(const struct subcommand *sub, size_t i,
				   const struct option_group **group);
/* Returns true if the parser accepts @text as the option's value. Has no side effect. */
bool option_takes(const struct subcommand *sub, const struct option_group *group,
		  const struct option_row *row, const char *text);
/*
 * Parses @text as the option's value into the subcommand's struct @options. Returns 0, or -EINVAL
 * after one line to the user, which calls the option @shown_as.
 */
int option_apply(void *options, const struct option_group *group, const struct option_row *row,
		 const char *text, const char *shown_as);
/* Returns true if the variable of the option is set, even to disable it: BPFMON_QUIET=0. */
bool option_has_variable(const struct option_row *row);
/* Applies the variables that are set. Returns 0, or -EINVAL after one line to the user. */
int options_from_environment(const struct subcommand *sub, void *options);
/* Prints the line "@what 'text'; see --help" and returns -EINVAL. */
int options_refuse(const char *what, const char *text);

#endif
