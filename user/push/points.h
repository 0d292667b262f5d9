/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Points of the series of a board, with the names of bpfmon-exporter: as lines of the line protocol
 * (measurement bpfmon_job and field cpu_seconds_total are bpfmon_job_cpu_seconds_total there), or
 * as records of OTLP.
 */
#ifndef PUSH_POINTS_H
#define PUSH_POINTS_H

#include "base/buffer.h"
#include "board/board.h"
#include "export/influx_text.h"
#include "push/batch.h"

/* What bpfmon-push says about itself; in the unit of the row: times in ns. */
struct push_counts {
#define PUSH_COUNT(key, kind, unit, help) uint64_t key;
#include "push/push_counts.def"
};

struct point_notation;

struct points {
	const struct point_notation *notation; /* not owned */
	struct buffer tags;     /* owned; of each line: instance, and those of the configuration */
	struct buffer resource; /* owned; of OTLP, which has the latter there */
	struct metric_set metrics;
	uint64_t interval_ns, began_epoch_ns;
	struct buffer rows; /* owned; of ended jobs, as in a batch (batch.h) */
	size_t nr_rows;
};

/*
 * @tags are "KEY=VALUE ..."; @metrics is "core", "more" or "all". Returns 0 or -ENOMEM;
 * points_done() is needed in either case.
 */
int points_init(struct points *p, const char *instance, const char *tags, const char *metrics,
		uint64_t interval_ns, enum dialect dialect);
void points_done(struct points *p);

/* Append labels as tags, or as attributes of OTLP, for board_style.put_labels(). */
void points_put_labels(struct buffer *t, const struct job_labels *l);
void points_put_attributes(struct buffer *t, const struct job_labels *l);
/*
 * Appends what is sent of an ended job to the rows, for board_style.end_job(). @context is a
 * struct points. Returns 0 or -ENOMEM.
 */
int points_end_job(void *context, const struct job_labels *l, const struct ended_values *values,
		   uint64_t epoch_ns);
/*
 * Appends points of all series of the board, which board_prepare() has prepared, with times of
 * whole ms, in ns. One whose job has ended gets its last point. A series that is new gets a line
 * with its counters at 0, as of its beginning; in OTLP the start of its points says so, and a point
 * without values its end. The caller holds the lock, and calls
 * board_count_scrape().
 */
void points_put_board(struct points *p, struct buffer *t, struct board *b, uint64_t epoch_ns);
/* Appends the point of this program's own counters. */
void points_put_own(const struct points *p, struct buffer *t, const struct board *b,
		    const struct push_counts *counts, uint64_t epoch_ns);

#endif
