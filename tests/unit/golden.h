/* SPDX-License-Identifier: BSD-2-Clause */
/* Files against tests/data/golden/; GOLDEN=1 in the environment rewrites them, for review. */
#ifndef TESTS_UNIT_GOLDEN_H
#define TESTS_UNIT_GOLDEN_H

#include "fixture.h"

#define GOLDEN "tests/data/golden/"

static inline void assert_golden_text(const char *name, const char *text)
{
	char path[256], *golden;

	snprintf(path, sizeof(path), GOLDEN "%s", name);
	if (getenv("GOLDEN"))
		file_write(path, text);
	golden = file_read(path);
	if (!golden)
		fail_msg("there is no %s", path);
	if (strcmp(text, golden) != 0)
		fail_msg("%s differs: %s", path, text);
	free(golden);
}

#endif
