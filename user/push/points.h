/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Lines of the line protocol, with the names of bpfmon-exporter: measurement bpfmon_job and field
 * cpu_seconds_total are bpfmon_job_cpu_seconds_total there.
 */
#ifndef PUSH_POINTS_H
#define PUSH_POINTS_H

#include "base/buffer.h"
#include "board/board.h"
#include "export/influx_text.h"
#include "push/push_counts.h"

struct points {
	struct buffer tags; /* owned; of each line: instance, and those of the configuration */
	struct metric_set metrics;
	uint64_t interval_ns;
	struct buffer rows; /* owned; lines of ended jobs, two for each (batch.h) */
	size_t nr_rows;
};

/*
 * @tags are "KEY=VALUE ..."; @metrics is "core", "more" or "all". Returns 0 or -ENOMEM;
 * points_done() is needed in either case.
 */
int points_init(struct points *p, const char *instance, const char *tags, const char *metrics,
		uint64_t interval_ns);
void points_done(struct points *p);

/* Appends labels as tags, for board_style.put_labels(). */
void points_put_labels(struct buffer *t, const struct job_labels *l);
/*
 * Appends the two lines of an ended job to the rows, for board_style.end_job(). @context is a
 * struct points. Returns 0 or -ENOMEM.
 */
int points_end_job(void *context, const struct job_labels *l, const struct ended_values *values,
		   uint64_t epoch_ns);
/*
 * Appends lines for all series of the board, which board_prepare() has prepared, with times of
 * whole ms, in ns. A series that is new gets a line with its counters at 0, as of its beginning,
 * and one whose job has ended its last line. The caller holds the lock, and calls
 * board_count_scrape().
 */
void points_put_board(struct points *p, struct buffer *t, struct board *b, uint64_t epoch_ns);
/* Appends the line of this program's own counters. */
void points_put_own(const struct points *p, struct buffer *t, const struct board *b,
		    const struct push_counts *counts, uint64_t epoch_ns);

#endif
