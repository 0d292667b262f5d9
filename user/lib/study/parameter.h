/* SPDX-License-Identifier: BSD-2-Clause */
/* The parameters of a benchmark: names, each with values, that stand as {NAME} in its commands. */
#ifndef STUDY_PARAMETER_H
#define STUDY_PARAMETER_H

#include <stddef.h>

#define MAX_PARAMETERS 16
#define MAX_PARAMETER_VALUES 10000 /* of one parameter */

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
 * Adds one from "NAME VALUE,VALUE,...", in which \, is a comma that separates nothing. -EINVAL: it
 * is none, or the name is there already; -E2BIG: there are too many; -ENOMEM.
 */
int parameters_add_list(struct parameters *p, const char *text);
/*
 * The same from "NAME FROM TO": FROM, FROM + step and so on, up to TO. @step is NULL for 1; numbers
 * are decimal, and the values have as many decimals as the longest of these.
 */
int parameters_add_scan(struct parameters *p, const char *text, const char *step);
void parameters_done(struct parameters *p);

/* @text with each {NAME} replaced by values[i] of the parameter i, to be freed; NULL without
 * memory. */
char *parameters_put(const struct parameters *p, const char *const *values, const char *text);

#endif
