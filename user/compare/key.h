/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values by which runs are compared: what the summary line of a run has, under the same keys
 * and in the same units. Counters come from the table of metrics.
 */
#ifndef COMPARE_KEY_H
#define COMPARE_KEY_H

#include "model/metric.h"

#define NR_OWN_KEYS 18
#define NR_KEYS (NR_OWN_KEYS + NR_METRICS)

struct compare_key {
	const char *name;
	enum metric_unit unit; /* seconds and thousandths are decimal fractions here */
};

/* NULL as name: nothing is compared under this number, below NR_KEYS (a gauge). */
struct compare_key compare_key(size_t i);
/* -ENOENT. */
int compare_key_find(const char *name, size_t length, size_t *i);
/* The key that is spelt most like @name; NULL when none is near. */
const char *compare_key_nearest(const char *name, size_t length);

#endif
