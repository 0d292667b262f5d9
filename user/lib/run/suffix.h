/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Units behind a number as people write them: B KiB MiB GiB TiB, K M G T for the same, kB MB GB TB
 * of 1000, and us ms s min h d.
 */
#ifndef RUN_SUFFIX_H
#define RUN_SUFFIX_H

#include "run/metric.h"

/* -ENOENT: @suffix is none. @factor is to bytes, or to seconds. */
int suffix_find(const char *suffix, enum metric_unit *of, double *factor);

#endif
