/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan of a benchmark. A case is one command with one value of each parameter. In each round
 * every case runs once, in random order, so that changes of the machine affect all cases alike.
 */
#ifndef STUDY_PLAN_H
#define STUDY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PARAMETERS 16
#define MAX_PARAMETER_VALUES 10000 /* of one parameter */

/* A parameter, whose values replace {NAME} in the commands. */
struct parameter {
	char *name;    /* owned */
	char **values; /* owned, as are the strings */
	size_t nr;
};

struct parameters {
	struct parameter list[MAX_PARAMETERS];
	size_t nr;
};

/*
 * Adds a parameter from "NAME VALUE,VALUE,...", where "\," is a literal comma. Returns 0, -EINVAL
 * for bad syntax or a name in use, -E2BIG if there are too many, or -ENOMEM.
 */
int parameters_add_list(struct parameters *p, const char *text);
/*
 * Adds a parameter from "NAME FROM TO", with the values FROM, FROM + step and so on up to TO. @step
 * NULL means 1. Numbers are decimal; all values have as many decimals as the longest of the three.
 * Errors as parameters_add_list().
 */
int parameters_add_scan(struct parameters *p, const char *text, const char *step);
void parameters_done(struct parameters *p);

/*
 * Returns @text with each {NAME} replaced by values[i] of parameter i, to be freed; NULL without
 * memory.
 */
char *parameters_put(const struct parameters *p, const char *const *values, const char *text);

#define MAX_BENCH_COMMANDS 100
#define MAX_BENCH_CASES 10000

/* Shell commands that are executed around the runs. */
enum bench_step { BENCH_SETUP, BENCH_PREPARE, BENCH_CONCLUDE, BENCH_CLEANUP, NR_BENCH_STEPS };

extern const char *const bench_step_names[NR_BENCH_STEPS]; /* of the options */

struct bench_case {
	char *command;               /* owned; as shown */
	char **argv;                 /* owned, with its strings; as executed */
	char *label;                 /* owned; unique among the cases */
	const char **values;         /* array owned, strings not; [parameter] */
	char *steps[NR_BENCH_STEPS]; /* owned; may be NULL */
};

struct bench_plan {
	struct parameters parameters;
	struct bench_case *cases; /* owned */
	size_t nr;
	size_t runs, warmups; /* for each case */
	uint64_t seed;        /* of the random orders */
	bool is_sequential;   /* all runs of a case before the next case */
};

/* The commands to make cases of. */
struct bench_commands {
	const char *const *commands; /* texts for the shell */
	size_t nr;
	char *const *argv; /* or, if not NULL, words of the only command, without a shell */
	const char *shell; /* NULL: commands are split at blanks */
	/* for each step: one command for all cases, or one for each of @commands */
	const char *const *steps[NR_BENCH_STEPS];
	size_t nr_steps[NR_BENCH_STEPS];
};

/*
 * Makes the cases: each command with each combination of values of p->parameters. Returns 0, -E2BIG
 * if there are too many, -EINVAL if a command has an open quote or no word, or -ENOMEM.
 */
int bench_plan_make(struct bench_plan *p, const struct bench_commands *c);
void bench_plan_done(struct bench_plan *p);

/* Writes the order of the cases in a round: a permutation of 0 to p->nr - 1. */
void bench_plan_order(const struct bench_plan *p, size_t round, size_t *order);

/* Run number @i of (runs + warmups) * nr. */
struct bench_turn {
	size_t of;      /* index of the case */
	size_t round;   /* from 1, counted separately for warm-ups */
	bool is_warmup; /* not measured */
	bool is_first;  /* of its case */
	bool is_last;   /* of its case */
};

/*
 * Sets @t to run number @i. The caller keeps @order, which has room for p->nr cases, between calls
 * with ascending @i.
 */
void bench_plan_turn(const struct bench_plan *p, size_t i, size_t *order, struct bench_turn *t);

#endif
