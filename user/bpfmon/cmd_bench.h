/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of `bpfmon bench`: options, execution of the plan and presentation of the results. */
#ifndef BPFMON_CMD_BENCH_H
#define BPFMON_CMD_BENCH_H

#include "bpfmon/gates.h"
#include "bpfmon/recording_options.h"
#include "study/plan.h"

enum bench_export { BENCH_JSON, BENCH_CSV, BENCH_MARKDOWN, NR_BENCH_EXPORTS };

enum bench_sequence { SEQUENCE_BY_SETUP, SEQUENCE_MIXED, SEQUENCE_BLOCKS };

/* The argument of -L or -P. */
struct given_parameter {
	const char *text;
	bool is_scan;
};

struct bench_options {
	struct common_options common; /* common.words: the commands, each for the shell */
	struct recording_options recording;
	unsigned runs, warmups;
	struct given_parameter parameters[MAX_PARAMETERS];
	size_t nr_parameters;
	const char *scan_step; /* NULL if not given */
	const char *steps[NR_BENCH_STEPS][MAX_BENCH_COMMANDS];
	size_t nr_steps[NR_BENCH_STEPS];
	const char *shell; /* "none": no shell */
	bool no_shell, ignore_failure, show_output, force;
	enum bench_sequence sequence;
	const char *exports[NR_BENCH_EXPORTS]; /* paths; NULL if not given */
	bool json;                             /* the same as --export-json - */
	struct fail_if fail_if;
	unsigned seed;
	bool has_seed;
	char **command; /* the words after --; NULL if there is no -- */
};

/*
 * The command line, with each option that takes several words joined into one word and its value.
 */
struct bench_line {
	char **argv; /* owned; NULL-terminated, ends before -- */
	int argc;
	char **command; /* the words after --; NULL if there is no -- */
	char **joined;  /* owned, with its strings: the joined words */
	size_t nr_joined;
};

/* What was measured. Valid as long as the plan exists. */
struct bench_record {
	char id[9];        /* ID of the benchmark */
	const char *store; /* path of the store with its runs */
	bool *is_measured; /* owned; [case * runs + round]: the run counts */
	size_t nr_measured;
	int end_signal; /* signal that ended the benchmark; 0: none */
};

/*
 * Executes all runs of @p. Returns 0, -EINTR if a signal ended the benchmark, -ECANCELED if a
 * command failed, or another negative errno; the last two after a message to the user. The caller
 * calls bench_record_done() in any case.
 */
int bench_execute(const struct bench_options *o, const struct bench_plan *p,
		  struct bench_record *r);
void bench_record_done(struct bench_record *r);

/*
 * Reads the runs from the store, prints or writes the requested results, and evaluates @gates;
 * gates->has_failed is set if one holds. Returns 0, or a negative errno after a message to the
 * user.
 */
int bench_show(const struct bench_options *o, const struct bench_plan *p,
	       const struct bench_record *r, struct gates *gates);
/*
 * Checks before the first run whether the files can be written and the expressions decided. Returns
 * 0, or a negative errno after a message to the user.
 */
int bench_check_outputs(struct bench_options *o, const struct bench_plan *p, struct gates *gates);
/* After a failure with --force: removes the files of an earlier benchmark. */
void bench_exports_remove(const struct bench_options *o);

#endif
