/* SPDX-License-Identifier: BSD-2-Clause */
/* What is put into an output, and what its file then holds. */
#ifndef TESTS_UNIT_OUTPUT_FIXTURE_H
#define TESTS_UNIT_OUTPUT_FIXTURE_H

#include "fixture.h"
#include "record/output.h"

static inline void put(struct output *o, const char *text)
{
	output_put(o, text, strlen(text));
}

static inline void assert_file(const char *path, const char *expected)
{
	char *text = file_read(path);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
}

#endif
