// SPDX-License-Identifier: BSD-2-Clause
/* Memory by the size of the input, which a tag tells, or the files that a command names. */
#include "advise/chosen.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPLAINS 0.5 /* the share of the variance from which on a size is worth telling */
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

/* Keeps the line if it explains more than the one that is there. */
static void size_try(struct advice *a, struct chosen *c, const char *tag)
{
	struct line_fit fit;
	size_t nr = 0;

	if (tag && strlen(tag) >= sizeof(a->size_tag))
		return;
	for (size_t i = 0; i < c->nr; i++) {
		if (!size_get(c, i, tag, &c->sizes[nr]))
			continue;
		c->values[nr++] = (double)c->runs[i]->rss_peak_bytes;
	}
	if (nr < LEAST_SIZED || !line_fit(&fit, c->sizes, c->values, nr))
		return;
	if (a->has_size && fit.explained <= a->by_size.explained)
		return;
	a->has_size = true;
	a->by_size = fit;
	a->nr_sized = nr;
	a->size_is_of_files = tag == OF_FILES;
	snprintf(a->size_tag, sizeof(a->size_tag), "%s", tag ? tag : "");
}

void size_find(struct advice *a, struct chosen *c, const char *tag)
{
	char key[SIZE_TAG_BYTES];

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
		size_try(a, c, key);
	}
	size_try(a, c, OF_FILES);
	if (a->has_size && a->by_size.explained < EXPLAINS)
		a->has_size = false;
}
