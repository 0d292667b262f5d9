/* SPDX-License-Identifier: BSD-2-Clause */
/* The part of an exhaustive test that one run takes: all of it with BPFMON_TESTS=long, else one
 * case in some. */
#ifndef TESTS_UNIT_SWEEP_H
#define TESTS_UNIT_SWEEP_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct sweep_part {
	unsigned long every, first; /* the case @first, and each @every-th from there */
};

/* Chooses one case in @every, by SEED or by the time, and prints the seed that chooses the same
 * ones again. */
static inline struct sweep_part sweep_choose(unsigned long every)
{
	const char *kind = getenv("BPFMON_TESTS"), *given = getenv("SEED");
	static unsigned long seed;

	if (kind && !strcmp(kind, "long"))
		return (struct sweep_part){ 1, 0 };
	if (!seed) {
		seed = given ? strtoul(given, NULL, 10) : (unsigned long)time(NULL);
		printf("seed %lu: a part of the cases; BPFMON_TESTS=long takes all\n", seed);
	}
	return (struct sweep_part){ every, seed % every };
}

static inline bool sweep_has(struct sweep_part part, unsigned long at)
{
	return at % part.every == part.first;
}

#endif
