/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of line protocol, taken apart. */
#ifndef TESTS_UNIT_POINT_FIXTURE_H
#define TESTS_UNIT_POINT_FIXTURE_H

#include "fixture.h"
#include "run/line_protocol.h"
#include "run/writer.h"

static struct point point;

/* Of the first line. */
static inline int parse(const char *text)
{
	static char copy[16384];
	char *at = copy;
	size_t n = strlen(text);

	memcpy(copy, text, n);
	return point_parse(&point, &at, copy + n);
}

/* The line, as it is written, after its time. */
static inline void assert_written(const char *text, const char *wanted)
{
	struct run run = { .start_epoch_ns = START_NS };
	struct jsonw j = { 0 };

	assert_int_equal(parse(text), 1);
	write_point(&j, &run, 2500000000, 77, &point);
	assert_string_equal(strstr(j.text, "\"name\""), wanted);
	jsonw_done(&j);
}

#endif
