// SPDX-License-Identifier: BSD-2-Clause
/* Memory by the size of the input, which a tag tells, or the files that a command names. */
#include "study/chosen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINS 0.5 /* the share of the variance from which on a size is shown */
#define CHANCE 0.05  /* that one of the sizes seems to explain as much, though none does */
#define LEAST_SIZED 5
#define OF_FILES NULL /* in the place of a tag */

/* The value of the tag @key of @r; NULL: it has none. */
static const char *tag_value(const struct stored_run *r, const char *key)
{
	const size_t n = strlen(key);

	for (const char *t = r->tags; t && *t; t += strlen(t) + 1)
		if (!strncmp(t, key, n) && t[n] == '=')
			return t + n + 1;
	return NULL;
}

static bool tag_number(const struct stored_run *r, const char *key, double *size)
{
	const char *text = tag_value(r, key);
	char *end;

	if (!text)
		return false;
	*size = strtod(text, &end);
	return end != text && !*end && isfinite(*size);
}

static bool size_get(const struct chosen *c, size_t i, const char *tag, double *size)
{
	if (tag != OF_FILES)
		return tag_number(c->runs[i], tag, size);
	if (!c->requests[i] || c->requests[i]->argument_bytes < 0)
		return false;
	*size = (double)c->requests[i]->argument_bytes;
	return true;
}

/* Keeps the line if it explains more than the one that is there. False: there is none. */
static bool size_try(struct advice *a, struct chosen *c, const char *tag)
{
	struct line_fit fit;
	size_t nr = 0;

	if (tag && strlen(tag) >= sizeof(a->size_tag))
		return false;
	for (size_t i = 0; i < c->nr; i++) {
		if (!size_get(c, i, tag, &c->sizes[nr]))
			continue;
		c->values[nr++] = c->needs[i].peak;
	}
	if (nr < LEAST_SIZED || !line_fit(&fit, c->sizes, c->values, nr))
		return false;
	if (a->has_size && fit.explained <= a->by_size.explained)
		return true;
	a->has_size = true;
	a->by_size = fit;
	a->nr_sized = nr;
	a->size_is_of_files = tag == OF_FILES;
	snprintf(a->size_tag, sizeof(a->size_tag), "%s", tag ? tag : "");
	return true;
}

/*
 * Whether the best of @tried sizes explains more than chance does: memory grows with it, and
 * Fisher's transformation of the correlation, which is about normal, is beyond what the best of so
 * many sizes that explain nothing has.
 */
static bool size_is_evidence(const struct advice *a, size_t tried)
{
	const double z = atanh(sqrt(a->by_size.explained)) * sqrt((double)a->nr_sized - 3);

	return a->by_size.slope > 0 && a->by_size.explained >= EXPLAINS &&
	       (double)tried * erfc(z / M_SQRT2) / 2 < CHANCE;
}

void size_find(struct advice *a, struct chosen *c, const char *tag)
{
	char key[SIZE_TAG_BYTES];
	size_t tried = 0;

	if (tag) {
		size_try(a, c, tag);
		return;
	}
	/* those of the newest run: what explains it now */
	for (const char *t = c->runs[0]->tags; t && *t; t += strlen(t) + 1) {
		const size_t n = strcspn(t, "=");

		if (n >= sizeof(key))
			continue;
		memcpy(key, t, n);
		key[n] = '\0';
		tried += size_try(a, c, key);
	}
	tried += size_try(a, c, OF_FILES);
	a->has_size = a->has_size && size_is_evidence(a, tried);
}
