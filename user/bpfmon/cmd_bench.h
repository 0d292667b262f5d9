/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of `bpfmon bench`: its options, its runs, and what is shown of them. */
#ifndef BPFMON_CMD_BENCH_H
#define BPFMON_CMD_BENCH_H

#include "bpfmon/recording_options.h"
#include "study/plan.h"

enum bench_sequence { SEQUENCE_BY_SETUP, SEQUENCE_MIXED, SEQUENCE_BLOCKS };

/* -L or -P, as it was given. */
struct given_parameter {
	const char *text;
	bool is_scan;
};

struct bench_options {
	struct common_options common; /* its words: commands, each for the shell */
	struct recording_options recording;
	unsigned runs, warmups;
	struct given_parameter parameters[MAX_PARAMETERS];
	size_t nr_parameters;
	const char *scan_step; /* NULL: not given */
	const char *steps[NR_BENCH_STEPS][MAX_BENCH_COMMANDS];
	size_t nr_steps[NR_BENCH_STEPS];
	const char *shell; /* "none": without one */
	bool no_shell, ignore_failure, show_output, force;
	enum bench_sequence sequence;
	const char *export_json; /* NULL: not given */
	unsigned seed;
	bool has_seed;
	char **command; /* the words behind --; NULL: there are none */
};

/* The command line with each option that takes several words as one word and its value. */
struct bench_line {
	char **argv; /* owned; NULL-terminated, up to -- */
	int argc;
	char **command; /* behind it; NULL: there is no -- */
	char **joined;  /* owned, as are the texts: what was put together */
	size_t nr_joined;
};

/* What was measured, as long as the plan is in use. */
struct bench_record {
	char id[9];        /* of the benchmark */
	const char *store; /* where its runs are */
	bool *is_measured; /* owned; [case * runs + round]: it counts */
	size_t nr_measured;
	int end_signal; /* that ended it; 0: none has */
};

/*
 * Runs all of @p. 0; -EINTR: a signal has ended it; -ECANCELED: a command has failed; or another
 * negative errno; the last two after one line to the user. To be given to bench_record_done().
 */
int bench_execute(const struct bench_options *o, const struct bench_plan *p,
		  struct bench_record *r);
void bench_record_done(struct bench_record *r);

/* Reads the runs from the store, and prints or writes what was asked for. A negative errno after
 * one line to the user. */
int bench_show(const struct bench_options *o, const struct bench_plan *p,
	       const struct bench_record *r);
/* With --force, after a failure: the results of an earlier benchmark are replaced by none. */
void bench_export_nothing(const struct bench_options *o);

#endif
