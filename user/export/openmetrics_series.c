// SPDX-License-Identifier: BSD-2-Clause
#include "export/openmetrics_series.h"

#include "wire/openmetrics.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SERIES 1024 /* the file is read once for each value of each */

/* It is a part of names, and a label that no run has. Spans are no series: there are many, and each
 * has a line of its own. */
static bool dimension_is_usable(const char *dimension)
{
	static const char *const others[] = { SPAN_DIMENSION, "run", "name", "host", "job" };

	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		if (!strcmp(others[i], dimension))
			return false;
	for (const char *c = dimension; *c; c++)
		if (!islower((unsigned char)*c) &&
		    (c == dimension || !isdigit((unsigned char)*c)) &&
		    (c == dimension || *c != '_'))
			return false;
	return *dimension;
}

static void series_put_labels(struct instance_series *s, const char *labels, size_t bytes)
{
	if (bytes) /* without the brace at their end */
		buffer_put(&s->labels, labels, bytes - 1);
	openmetrics_put_label(&s->labels, s->dimension, s->name);
	buffer_puts(&s->labels, "}");
}

struct instance_series *series_get(struct export_batch *b, const struct instance *i,
				   const char *labels, size_t bytes)
{
	struct instance_series *s;

	for (size_t n = 0; n < b->nr_series; n++) {
		s = &b->series[n];
		if (s->run == b->at && !strcmp(s->dimension, i->dimension) &&
		    !strcmp(s->name, i->name))
			return s;
	}
	if (b->nr_series == MOST_SERIES || !dimension_is_usable(i->dimension))
		return NULL;
	s = reallocarray(b->series, b->nr_series + 1, sizeof(*s));
	if (!s) {
		b->text.failed = true;
		return NULL;
	}
	b->series = s;
	s = &s[b->nr_series++];
	*s = (struct instance_series){ .run = b->at };
	memcpy(s->dimension, i->dimension, sizeof(s->dimension));
	memcpy(s->name, i->name, sizeof(s->name));
	series_put_labels(s, labels, bytes);
	b->text.failed |= s->labels.failed;
	return s;
}

bool series_is_first(const struct export_batch *b, size_t at)
{
	for (size_t i = 0; i < at; i++)
		if (!strcmp(b->series[i].dimension, b->series[at].dimension))
			return false;
	return true;
}
