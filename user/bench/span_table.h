/* SPDX-License-Identifier: BSD-2-Clause */
/* The time of the spans that the runs of a benchmark had, case by case. */
#ifndef BENCH_SPAN_TABLE_H
#define BENCH_SPAN_TABLE_H

#include "bench/result.h"

#include <stdio.h>

/* Nothing where no run has a span. -ENOMEM. */
int bench_span_table(FILE *f, const struct bench_result *r, size_t width);

#endif
