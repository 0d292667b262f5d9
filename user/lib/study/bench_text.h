/* SPDX-License-Identifier: BSD-2-Clause */
/* Prints the results of a benchmark. */
#ifndef STUDY_BENCH_TEXT_H
#define STUDY_BENCH_TEXT_H

#include "study/result.h"

#include <stdio.h>

/*
 * Prints tables of the time, of other resources and of spans, and each case against the fastest.
 * Returns 0 or -ENOMEM.
 */
int bench_text(FILE *f, const struct bench_result *r, size_t width);

#endif
