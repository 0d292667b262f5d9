/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Options and subcommands as rows of tables. Parser, environment variables, files, help, manual,
 * completion and corrections all follow from them.
 */
#ifndef OPTIONS_OPTION_H
#define OPTIONS_OPTION_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_OPTIONS 64 /* of one subcommand */
#define ANY_WORDS (~0U)

struct completion;

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
	/*
	 * Parse @text (NULL: no argument) into @value. Returns 0; -EINVAL; -E2BIG: a run has no
	 * more tags; -ENAMETOOLONG: it has RUN_WORD_BYTES.
	 */
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

/* What options with the same parser have in common, beside that. */
struct value_kind {
	int (*parse)(void *value, const char *text); /* of the rows; NULL: after the last kind */
	/* Returns what was meant by @text, which parse() has refused, or NULL. NULL: not known. */
	const char *(*guess)(const char *text);
	void (*offer)(const struct completion *c); /* completes a value; NULL: see completion.h */
};

/* What the struct of every subcommand with options begins with. */
struct common_options {
	bool help, version;
	int colour;           /* enum colour_choice */
	char **words;         /* after the options, up to NULL; NULL with help or version */
	bool is_after_dashes; /* a -- is before these words */
};

/* A word that may stand behind the options, before all others. */
struct first_word {
	const char *name;    /* NULL: after the last */
	const char *aliases; /* what users type instead, between blanks; NULL: nothing */
	unsigned most;       /* words that may follow it */
};

/* The words that a subcommand takes. */
struct subcommand_words {
	unsigned most;                  /* how many, if @first does not say */
	const struct first_word *first; /* NULL: the first is as the others */
	bool takes_other_first;         /* the first may be another one than these */
	/* Completes a word behind @first, or the first itself (NULL). NULL: nothing is offered. */
	void (*offer)(const struct completion *c, const char *first);
};

/* The parts of the list in `bpfmon --help`. */
enum subcommand_part { PART_RECORDS, PART_READS, PART_INFORMS };

struct subcommand {
	const char *name;    /* NULL: a run, `bpfmon -- COMMAND` */
	const char *aliases; /* what other programs call it, between blanks; NULL: nothing */
	const char *summary; /* its line in `bpfmon --help`; NULL: in no help */
	enum subcommand_part part;
	struct subcommand_words words;
	bool takes_command;   /* one stands behind -- */
	bool loads_programs;  /* uses the capabilities that bpfmon's file may have */
	bool is_role;         /* a job depends on it: it goes on after a failed allocation */
	bool becomes_command; /* executes it in its place: what that inherits is kept as it is */
	bool ends_at_word;    /* the first word that is no option ends the options */
	/*
	 * Gets its own name as argv[0] and returns the exit status. main() flushes stdout behind
	 * it, and reports what could not be written.
	 */
	int (*run)(int argc, char **argv);
	/* Of one with options, else all 0 and NULL: */
	const struct option_group *groups; /* in the order of the help */
	size_t options_bytes;              /* of its struct, which begins with the common options */
	int (*parse)(void *options, int argc, char **argv); /* 0; -EINVAL after one line */
	void (*help)(void);
};

/* The tables of the program, which it defines: in the order of the help; NULL after the last. */
extern const struct subcommand *const subcommands[];
extern const struct value_kind value_kinds[];

/* Returns the subcommand of that name, or NULL. */
const struct subcommand *subcommand_find(const char *name);
/* Returns the place of @word in the table of first words of @sub, or -1. */
int first_word_find(const struct subcommand *sub, const char *word);
/* Returns the kind of the row's values, or NULL. */
const struct value_kind *value_kind_of(const struct option_row *row);

/* Returns the row @i of all groups of the subcommand, and its group; NULL after the last. */
const struct option_row *option_at(const struct subcommand *sub, size_t i,
				   const struct option_group **group);
/* Returns whether the parser takes @text as the option's value, without any effect. */
bool option_takes(const struct subcommand *sub, const struct option_group *group,
		  const struct option_row *row, const char *text);
/*
 * Parse @text as the option's value into the subcommand's struct @options. -EINVAL after one line
 * to the user, which names @shown_as.
 */
int option_apply(void *options, const struct option_group *group, const struct option_row *row,
		 const char *text, const char *shown_as);
/* Returns whether a variable stands for the option, even one that takes it back: BPFMON_QUIET=0. */
bool option_has_variable(const struct option_row *row);
/* Apply the variables that are set. -EINVAL after one line to the user. */
int options_from_environment(const struct subcommand *sub, void *options);
/* Returns -EINVAL, after the line "@what 'text'; see --help". */
int options_refuse(const char *what, const char *text);

#endif
