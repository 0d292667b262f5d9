/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef TESTS_FUZZ_HOLDS_H
#define TESTS_FUZZ_HOLDS_H

#include <stdio.h>
#include <stdlib.h>

/* What must hold, with or without NDEBUG. */
#define FUZZ_HOLDS(condition)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__,          \
				#condition);                                                       \
			abort();                                                                   \
		}                                                                                  \
	} while (0)

#endif
