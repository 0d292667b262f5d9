// SPDX-License-Identifier: BSD-2-Clause
#include "base/nearest.h"

#include <string.h>

#define LONGEST 48        /* longer words match nothing */
#define LEAST_BEGINNING 2 /* shortest prefix that matches a word */
#define LETTERS_A_MISTAKE 3

static size_t distance_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Returns the number of insertions, deletions, changes and swaps of neighbours (Damerau-Levenshtein
 * distance, optimal string alignment).
 */
static size_t word_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[3][LONGEST + 1]; /* distances of a[0..i) for the last three i */

	for (size_t j = 0; j <= nb; j++)
		row[0][j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t *now = row[i % 3], *before = row[(i - 1) % 3], *swap = row[(i + 1) % 3];

		now[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			now[j] = distance_least(before[j - 1] + (a[i - 1] != b[j - 1]),
						distance_least(before[j], now[j - 1]) + 1);
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				now[j] = distance_least(now[j], swap[j - 2] + 1);
		}
	}
	return row[na % 3][nb];
}

void nearest_begin(struct nearest *n, const char *typed, size_t length)
{
	size_t most = length / LETTERS_A_MISTAKE;

	*n = (struct nearest){ .typed = typed, .length = length };
	n->distance = (most ? most : 1) + 1;
}

void nearest_offer(struct nearest *n, const char *word)
{
	size_t length = strlen(word), distance;

	if (!n->length || n->length > LONGEST || length > LONGEST)
		return;
	distance = word_distance(n->typed, n->length, word, length);
	if (n->length >= LEAST_BEGINNING && length > n->length &&
	    !memcmp(word, n->typed, n->length))
		distance = 1;
	/* if no letter is left it is no misspelling */
	if (distance >= n->distance || distance >= n->length)
		return;
	n->distance = distance;
	n->word = word;
}
