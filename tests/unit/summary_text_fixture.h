/* SPDX-License-Identifier: BSD-2-Clause */
/* A summary whose text has a line. Include after cmocka.h. */
#ifndef TESTS_UNIT_SUMMARY_TEXT_FIXTURE_H
#define TESTS_UNIT_SUMMARY_TEXT_FIXTURE_H

#include "fixture.h"
#include "text/summary_text.h"

/* Takes @s. */
static inline void assert_shown(struct summary *s, const char *line)
{
	char *text = summary_text(s, NULL, 0);

	assert_non_null(text);
	if (!strstr(text, line))
		fail_msg("no %s in %s", line, text);
	free(text);
	summary_done(s);
}

#endif
