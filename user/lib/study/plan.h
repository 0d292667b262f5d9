/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The plan of a benchmark. A case is one of its commands with one value of each parameter. In each
 * round every case runs once, in random order, so that changes of the machine affect all commands
 * alike.
 */
#ifndef STUDY_PLAN_H
#define STUDY_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MAX_PARAMETERS 16
#define MAX_PARAMETER_VALUES 10000 /* of one parameter */

/* A parameter has values that replace {NAME} in the commands. */
struct parameter {
	char *name;    /* owned */
	char **values; /* owned, as are the texts */
	size_t nr;
};

struct parameters {
	struct parameter list[MAX_PARAMETERS];
	size_t nr;
};

/*
 * Adds a parameter from "NAME VALUE,VALUE,..."; \, is a literal comma. -EINVAL: bad syntax, or the
 * name is used already; -E2BIG: too many; -ENOMEM.
 */
int parameters_add_list(struct parameters *p, const char *text);
/*
 * The same from "NAME FROM TO": FROM, FROM + step and so on, up to TO. @step NULL: 1. Numbers are
 * decimal, and the values have as many decimals as the longest of them.
 */
int parameters_add_scan(struct parameters *p, const char *text, const char *step);
void parameters_done(struct parameters *p);

/* Returns @text with each {NAME} replaced by values[i] of parameter i, to be freed; NULL without
 * memory. */
char *parameters_put(const struct parameters *p, const char *const *values, const char *text);

#define MAX_BENCH_COMMANDS 100
#define MAX_BENCH_CASES 10000

/* Commands around the runs, executed by a shell. */
enum bench_step { BENCH_SETUP, BENCH_PREPARE, BENCH_CONCLUDE, BENCH_CLEANUP, NR_BENCH_STEPS };

struct bench_case {
	char *command;               /* owned; as it is shown */
	char **argv;                 /* owned, with its strings; as it is executed */
	char *label;                 /* owned; unique among the cases */
	const char **values;         /* owned, without the strings: of each parameter */
	char *steps[NR_BENCH_STEPS]; /* owned; NULL: there is no such step */
};

struct bench_plan {
	struct parameters parameters;
	struct bench_case *cases; /* owned */
	size_t nr;
	size_t runs, warmups; /* of each case */
	uint64_t seed;        /* of the orders */
	bool is_sequential;   /* all runs of a case, then those of the next */
};

/* The commands that cases are made of. */
struct bench_commands {
	const char *const *commands; /* each a text for the shell; */
	size_t nr;
	char *const *argv; /* or, not NULL, the words of the only one, without a shell */
	const char *shell; /* NULL: none, a command is words with blanks between */
	/* for all commands, or one for each */
	const char *const *steps[NR_BENCH_STEPS];
	size_t nr_steps[NR_BENCH_STEPS];
};

/*
 * Makes the cases: each command with each combination of values of p->parameters. -E2BIG: too many;
 * -EINVAL: a command has an open quote, or no word; -ENOMEM.
 */
int bench_plan_make(struct bench_plan *p, const struct bench_commands *c);
void bench_plan_done(struct bench_plan *p);

/* Writes the order of the cases in a round: a permutation of 0 to p->nr - 1. */
void bench_plan_order(const struct bench_plan *p, size_t round, size_t *order);

/* One run of the plan: number @i of (runs + warmups) * nr. */
struct bench_turn {
	size_t of;      /* the case */
	size_t round;   /* from 1, of warm-ups and of others */
	bool is_warmup; /* not measured */
	bool is_first;  /* of its case */
	bool is_last;   /* of its case */
};

/* @order has room for p->nr cases; it is kept between calls with growing @i. */
void bench_plan_turn(const struct bench_plan *p, size_t i, size_t *order, struct bench_turn *t);

#endif
