/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The values by which runs are listed, selected and compared, with keys and units of the summary
 * line: the rows of summary.def that are marked for it, and the counters of metrics.def.
 */
#ifndef RUN_KEY_H
#define RUN_KEY_H

#include "base/nearest.h"
#include "run/summary_field.h"

#define NR_KEYS ((size_t)NR_SUMMARY_COMPARED + (size_t)NR_METRICS)

struct run_key {
	const char *name;
	enum metric_unit unit; /* UNIT_NS is in seconds here, UNIT_MILLI in units */
	bool is_estimate;      /* from samples, so that two equal runs differ */
};

/* Returns key @i < NR_KEYS; its name is NULL for gauges, which have none. */
struct run_key run_key(size_t i);
/* Returns the short word @i, as "wall", and its key in *@key; NULL after the last. */
const char *run_key_word(size_t i, const char **key);
/* Finds the key @name, or that of the short word @name. Returns 0 or -ENOENT. */
int run_key_find(const char *name, size_t length, size_t *i);
/* Offers all keys and short words. */
void run_keys_offer(struct nearest *n);
/* Returns the key or short word with the most similar spelling; NULL if none is similar, or it is
 * one. */
const char *run_key_nearest(const char *name, size_t length);

#endif
