/* SPDX-License-Identifier: BSD-2-Clause */
/* Series: the samples of all metrics with the same labels. */
#ifndef BOARD_JOB_SERIES_H
#define BOARD_JOB_SERIES_H

#include "base/buffer.h"
#include "board/name_index.h"
#include "run/metric.h"
#include "run/run.h"

#include <stdbool.h>
#include <stdint.h>

#define LABEL_BYTES 256 /* of a job, user, kind or name; longer ones are cut */

struct job_labels {
	char job[LABEL_BYTES], user[LABEL_BYTES], kind[LABEL_BYTES], name[LABEL_BYTES];
	char account[LABEL_BYTES / 4], partition[LABEL_BYTES / 4]; /* of a batch job */
	char namespace[64], pod[LABEL_BYTES], container[64]; /* in Kubernetes, at its limits */
	bool is_nested;                                      /* another job includes its use */
};

struct series {
	struct name_entry entry; /* key: the labels */
	struct buffer labels;    /* owned; as board_style.put_labels() writes them */
	uint64_t value[NR_METRICS];
	struct metric_set have; /* gauges: as of board_prepare() */
	struct series *next;
	bool is_own; /* has the labels of one job; else it sums further jobs and is kept */
	bool is_new; /* its job began after the first stream was opened, and it was not scraped
		      * yet: counters are shown as 0 once, so that their increase is whole */
	size_t runs; /* not ended */
	uint64_t live, stalled;   /* of these, at board_prepare() */
	uint64_t start_epoch_ns;  /* first start of the live ones; 0 if none */
	struct job_bounds bounds; /* sums of the live ones */
	uint64_t ended_ns;        /* set if no run is left */
	uint64_t end_epoch_ns;    /* of the last one that ended; 0 if unknown */
	unsigned scrapes;         /* since then */
	uint64_t began_epoch_ns;  /* its counters are of the time since then: the start of its
				   * first job, or when that left the common series */
	/* for a program that writes lines: */
	uint64_t shown_epoch_ns; /* earliest time of the next one */
	struct metric_set shown; /* what its lines have had */
	unsigned states_shown;   /* a bit for each (shown.h) */
};

/* Unordered, with an index of their labels. */
struct series_list {
	struct name_index index;
	struct series *first;
};

/* Finds the series with the labels @text; NULL if there is none, or @text has failed. */
struct series *series_find_labels(const struct series_list *l, const struct buffer *text);
/* Finds or adds the series with the labels @text, which it consumes. NULL if out of memory. */
struct series *series_take_labels(struct series_list *l, struct buffer *text);
/* Removes the series at *@at. */
void series_remove(struct series_list *l, struct series **at);
void series_list_done(struct series_list *l);
/* Adds an increment to a counter, which saturates. */
void series_grow(struct series *s, enum metric_id id, uint64_t by);
/* Clears what board_prepare() computes. */
void series_clear_gauges(struct series *s);

#endif
