/* SPDX-License-Identifier: BSD-2-Clause */
/* A line of line protocol, taken apart. */
#ifndef TESTS_UNIT_POINT_FIXTURE_H
#define TESTS_UNIT_POINT_FIXTURE_H

#include "fixture.h"
#include "wire/line_protocol.h"

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

#endif
