/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values by which runs are compared: what the summary line of a run has, under the same keys
 * and in the same units. They are the rows of summary.def that have a place here, and the counters
 * of metrics.def.
 */
#ifndef STUDY_KEY_H
#define STUDY_KEY_H

#include "run/summary_field.h"

#define NR_KEYS ((size_t)NR_SUMMARY_COMPARED + (size_t)NR_METRICS)

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
