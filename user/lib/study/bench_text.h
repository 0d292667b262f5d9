/* SPDX-License-Identifier: BSD-2-Clause */
/* What a benchmark has measured, for people. */
#ifndef STUDY_BENCH_TEXT_H
#define STUDY_BENCH_TEXT_H

#include "study/result.h"

#include <stdio.h>

/* Tables of the time, of what else was used and of spans, and each case against the fastest.
 * -ENOMEM. */
int bench_text(FILE *f, const struct bench_result *r, size_t width);

#endif
