/* SPDX-License-Identifier: BSD-2-Clause */
/* The word of a list that a mistyped one was meant to be. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *typed; /* not owned */
	size_t length;
	const char *word; /* the best so far, as it was offered; NULL: none is near enough */
	size_t distance;
};

/* Begins the search for a word near the @length bytes of @typed. */
void nearest_begin(struct nearest *n, const char *typed, size_t length);
/*
 * Takes @word if it is nearer than those before it, and near enough: one letter is put in, left
 * out, changed or swapped with the next for each three that were typed, and at least one; or
 * @word begins with the two letters or more that were typed.
 */
void nearest_offer(struct nearest *n, const char *word);

#endif
