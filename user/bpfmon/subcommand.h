/* SPDX-License-Identifier: BSD-2-Clause */
/* The subcommands: each is a file, and a row in subcommands.def. */
#ifndef BPFMON_SUBCOMMAND_H
#define BPFMON_SUBCOMMAND_H

#include "base/exit_status.h"
#include "bpfmon/options.h"

/* The parts of the list in `bpfmon --help`. */
enum subcommand_part { PART_RECORDS, PART_READS, PART_INFORMS };

struct subcommand {
	const char *name;    /* NULL: a run, `bpfmon -- COMMAND` */
	const char *summary; /* its line in `bpfmon --help`; NULL: in no help */
	enum subcommand_part part;
	bool loads_programs;  /* uses the capabilities that bpfmon's file may have */
	bool becomes_command; /* executes it in its place: what that inherits is kept as it is */
	bool ends_at_word;    /* the first word that is no option ends the options */
	/* Gets its own name as argv[0] and returns the exit status. */
	int (*run)(int argc, char **argv);
	/* Of one with options, else all 0 and NULL: */
	const struct option_group *groups; /* in the order of the help */
	size_t options_bytes;              /* of its struct, which begins with the common options */
	int (*parse)(void *options, int argc, char **argv); /* 0; -EINVAL after one line */
	void (*help)(void);
};

#define SUBCOMMAND(name) extern const struct subcommand subcommand_##name;
#include "bpfmon/subcommands.def"

/* All of them; NULL after the last. */
extern const struct subcommand *const subcommands[];

/* The one of that name, or NULL. */
const struct subcommand *subcommand_find(const char *name);

#endif
