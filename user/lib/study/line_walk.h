/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The members of an object in JSON, one after the other, where they are: to take few values from
 * the lines of many runs costs no tree of each.
 */
#ifndef STUDY_LINE_WALK_H
#define STUDY_LINE_WALK_H

#include <stdbool.h>
#include <stddef.h>

struct line_walk {
	const char *at;    /* where the next one is looked for */
	const char *key;   /* as it is written, without its quotes */
	const char *value; /* its first character */
	size_t key_length, value_length;
};

/* Begins with the text @line, which need not be an object. */
void line_walk_begin(struct line_walk *w, const char *line);
/* Goes to the next member. False: there is none, or what follows is no JSON. */
bool line_walk_next(struct line_walk *w);
bool line_walk_is_at(const struct line_walk *w, const char *key);
/* The number that the value is; NAN: it is none. */
double line_walk_number(const struct line_walk *w);

#endif
