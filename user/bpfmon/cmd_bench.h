/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of `bpfmon bench`: its options, its runs, and what is shown of them. */
#ifndef BPFMON_CMD_BENCH_H
#define BPFMON_CMD_BENCH_H

#include "study/plan.h"
#include "bpfmon/recording_options.h"

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

/* -ENOMEM. */
int bench_line_read(struct bench_line *l, int argc, char **argv);
void bench_line_done(struct bench_line *l);

/* Up to NULL; NULL has none. */
size_t bench_words_count(char *const *words);
/* Each: -EINVAL after one line to the user. */
int bench_check_store(char *const *words);
int bench_check_commands(const struct bench_options *o);
int bench_check_tags(const struct bench_options *o, const struct parameters *p);
/* Once the cases are made. */
int bench_check_cases(const struct bench_plan *p);

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

/* The lines of runs, until they are in the store. */
struct bench_keep {
	int fd;                /* a file without a name, to which recorders append; -1: none */
	off_t begins;          /* where those of the present run begin */
	uint64_t last_ns;      /* CLOCK_MONOTONIC: when they were kept last */
	const char *store;     /* its path */
	const struct user *as; /* who writes it; NULL: this user */
};

/* Makes the store where there is none. A negative errno after one line to the user. */
int bench_keep_open(struct bench_keep *k, const char *store, const struct user *as);
/* A run begins, and later it does not count: its lines are dropped. */
void bench_keep_begin(struct bench_keep *k);
void bench_keep_drop(struct bench_keep *k);
/*
 * Puts into the store what has come, by a process with the rights of its user; without @is_last
 * only if that has not been done for some seconds: to open a store takes longer than a short run. A
 * negative errno after one line to the user; the lines stay then.
 */
int bench_keep_store(struct bench_keep *k, bool is_last);
void bench_keep_done(struct bench_keep *k);

/* Reads the runs from the store, and prints or writes what was asked for. A negative errno after
 * one line to the user. */
int bench_show(const struct bench_options *o, const struct bench_plan *p,
	       const struct bench_record *r);
/* With --force, after a failure: the results of an earlier benchmark are replaced by none. */
void bench_export_nothing(const struct bench_options *o);

#endif
