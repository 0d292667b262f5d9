/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds the word of a list that a misspelled one was meant to be. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

struct nearest {
	const char *typed; /* not owned */
	size_t length;
	const char *word; /* best word so far, not owned; NULL if none is near enough */
	size_t distance;
};

/* Starts the search for a word near the @length bytes of @typed. */
void nearest_begin(struct nearest *n, const char *typed, size_t length);
/*
 * Offers @word, which is kept if it is the nearest so far and near enough: one mistake (an
 * inserted, missing, changed or swapped letter) for each three typed letters, at least one; or if
 * it begins with the two or more typed letters.
 */
void nearest_offer(struct nearest *n, const char *word);

#endif
