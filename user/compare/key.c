// SPDX-License-Identifier: BSD-2-Clause
#include "compare/key.h"

#include <errno.h>
#include <string.h>

#define LONGEST_KEY 64

struct compare_key compare_key(size_t i)
{
	const struct metric *m;

	if (i < NR_SUMMARY_COMPARED) {
		const struct summary_field *f = summary_field_compared((unsigned)i + 1);

		return (struct compare_key){ f->key, f->unit };
	}
	m = metric_get((enum metric_id)(i - NR_SUMMARY_COMPARED));
	if (m->kind != KIND_COUNTER)
		return (struct compare_key){ 0 };
	return (struct compare_key){ m->key, m->unit };
}

int compare_key_find(const char *name, size_t length, size_t *i)
{
	for (size_t k = 0; k < NR_KEYS; k++) {
		const char *key = compare_key(k).name;

		if (!key || strlen(key) != length || memcmp(key, name, length) != 0)
			continue;
		*i = k;
		return 0;
	}
	return -ENOENT;
}

static size_t size_least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many letters are to be changed, put in or left out (Levenshtein). */
static size_t text_distance(const char *a, size_t na, const char *b, size_t nb)
{
	size_t row[LONGEST_KEY + 1];

	for (size_t j = 0; j <= nb; j++)
		row[j] = j;
	for (size_t i = 1; i <= na; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= nb; j++) {
			size_t kept = diagonal + (a[i - 1] != b[j - 1]);

			diagonal = row[j];
			row[j] = size_least(kept, size_least(row[j], row[j - 1]) + 1);
		}
	}
	return row[nb];
}

const char *compare_key_nearest(const char *name, size_t length)
{
	size_t best = length / 2 + 1;
	const char *found = NULL;

	if (length > LONGEST_KEY)
		return NULL;
	for (size_t k = 0; k < NR_KEYS; k++) {
		const char *key = compare_key(k).name;
		size_t d = key ? text_distance(name, length, key, strlen(key)) : best;

		/* "rss_peak" is meant as the beginning of a key */
		if (key && length > 2 && !strncmp(key, name, length))
			d = 1;
		if (d >= best)
			continue;
		best = d;
		found = key;
	}
	return found;
}
