/* SPDX-License-Identifier: BSD-2-Clause */
/* Figures of jobs that have ended, which are shown for a while. */
#ifndef BOARD_ENDED_H
#define BOARD_ENDED_H

#include "base/buffer.h"
#include "board/name_index.h"
#include "run/metric.h"

#include <stdbool.h>
#include <stdint.h>

enum {
	ENDED_START, /* these two are of the meta line: start, since the epoch */
	ENDED_LIMIT, /* of memory */
#define ENDED_METRIC(name, key, unit, help) ENDED_##name,
#include "board/ended_metrics.def"
	NR_ENDED_METRICS
};

struct ended_metric {
	const char *name; /* after bpfmon_job_ended_ */
	const char *key;  /* in the summary line */
	enum metric_unit unit;
	const char *help;
};

extern const struct ended_metric ended_metrics[NR_ENDED_METRICS];

struct ended_values {
	uint64_t value[NR_ENDED_METRICS]; /* in the unit of the metric */
	bool has[NR_ENDED_METRICS];
};

struct ended_job {
	struct name_entry entry; /* key: the labels */
	struct ended_job *older, *newer;
	struct buffer labels; /* owned */
	struct ended_values values;
	uint64_t ended_ns;
	unsigned scrapes; /* since then */
};

/* In the order of their ends. */
struct ended_jobs {
	struct name_index index;
	struct ended_job *oldest, *newest;
	size_t most;       /* further ones replace the oldest */
	uint64_t *dropped; /* counts those replaced before they were scraped; not owned */
};

/* Adds what the meta line has; @memory_max_bytes is 0 without a limit. */
void ended_complete(struct ended_values *e, uint64_t start_epoch_ns, uint64_t memory_max_bytes);

void ended_init(struct ended_jobs *e, size_t most, uint64_t *dropped);
void ended_done(struct ended_jobs *e);
/*
 * Adds a job whose labels are @labels, which it consumes; replaces an earlier one with the same
 * labels. Returns 0 or -ENOMEM.
 */
int ended_add(struct ended_jobs *e, struct buffer *labels, const struct ended_values *values,
	      uint64_t now_ns);
/* Removes jobs that ended more than @keep_ns ago and were scraped @scrapes times. */
void ended_expire(struct ended_jobs *e, uint64_t now_ns, uint64_t keep_ns, unsigned scrapes);
/* Counts a scrape for each job. */
void ended_count_scrape(struct ended_jobs *e);

#endif
