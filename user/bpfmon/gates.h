/* SPDX-License-Identifier: BSD-2-Clause */
/* The gates of --fail-if: expressions that are evaluated for a comparison, and their report. */
#ifndef BPFMON_GATES_H
#define BPFMON_GATES_H

#include "study/compare_document.h"
#include "study/expression.h"
#include "study/step.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define MAX_FAIL_IF 32

/* The texts of --fail-if. */
struct fail_if {
	const char *text[MAX_FAIL_IF];
	size_t nr;
};

/* The parser of an option row; @fail_if is a struct fail_if. */
int fail_if_parse(void *fail_if, const char *text);

struct gates {
	struct expression expressions[MAX_FAIL_IF];
	size_t nr_expressions;
	struct outcome *list; /* owned */
	size_t nr;
	bool has_failed; /* some expression holds */
	bool has_first;  /* the first group is checked, too */
};

/* Parses the expressions. Returns 0, or -EINVAL after a message. */
int gates_parse(struct gates *x, const struct fail_if *texts);
/*
 * Evaluates the expressions for the groups from @first on; with @steps for their steps instead,
 * skipping steps that a side lacks. Of the group 0 only values are checked, no differences. With
 * @is_strict, too few runs to tell a difference from noise are an error. Returns 0, or a negative
 * errno after a message if an expression cannot be decided.
 */
int gates_evaluate(struct gates *x, const struct comparison *c, const struct steps *steps,
		   bool is_strict, size_t first);
/* Prints a line on stderr for each gate that failed, or passed because that may be noise. */
void gates_report(const struct gates *x, const struct comparison *c);
/* Writes a table with each gate; nothing if there is none. */
void gates_markdown(FILE *f, const struct gates *x, const struct comparison *c);
void gates_done(struct gates *x);

#endif
