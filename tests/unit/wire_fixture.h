/* SPDX-License-Identifier: BSD-2-Clause */
/* Lines that are written and read back. */
#ifndef TESTS_UNIT_WIRE_FIXTURE_H
#define TESTS_UNIT_WIRE_FIXTURE_H

#include "fixture.h"
#include "run/reader.h"
#include "run/writer.h"

static inline void read_back(struct line *l, struct jsonw *j)
{
	assert_false(j->failed);
	assert_int_equal(j->text[j->used - 1], '\n');
	assert_int_equal(line_read(l, j->text, j->used), 0);
}

static inline void assert_has(const struct jsonw *j, const char *part)
{
	if (!strstr(j->text, part))
		fail_msg("no %s in %s", part, j->text);
}

static inline void same_values(const uint64_t *a, const struct metric_set *a_have,
			       const uint64_t *b, const struct metric_set *b_have)
{
	assert_memory_equal(a_have, b_have, sizeof(*a_have));
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(a_have, (enum metric_id)i))
			assert_int_equal(a[i], b[i]);
}

#endif
