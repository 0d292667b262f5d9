/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats lines of the summary: time, memory, network, GPUs, energy, and exceeded limits. */
#ifndef TEXT_SUMMARY_LINES_H
#define TEXT_SUMMARY_LINES_H

#include "base/json.h"
#include "run/limit.h"
#include "run/summary.h"
#include "run/time_parts.h"
#include "run/waited.h"

#include <stdio.h>

/*
 * Writes the lines on memory. With @has_bounds, shows both bounds of a peak that is not known
 * exactly.
 */
void memory_text(FILE *f, const struct summary *s, bool has_bounds);

/*
 * Writes where the time went: a bar of letters that fits into @width columns (0 for any), and a
 * legend. Writes nothing if @total lacks the values.
 */
void time_text(FILE *f, const struct sample *total, size_t width);
/*
 * Divides the share of the time in which the threads did not run among what they waited for.
 * Returns the number of items in @list.
 */
size_t time_waits(const struct sample *total, const unsigned percent[NR_TIME_PARTS],
		  struct waited_share list[NR_WAITED]);
/* Writes the object "time" with the seconds of each known part. */
void time_json(struct jsonw *j, const struct sample *total);

/*
 * Writes an exceeded limit, such as "rss<2GiB: 2.1 GiB after 12.3 s, most of it in python3 (123)",
 * without control characters.
 */
void limit_text(FILE *f, const struct limit_hit *hit);
/* Returns the text of limit_text(). The caller frees it. NULL without memory. */
char *limit_text_make(const struct limit_hit *hit);

#define GPUS_LEAST_NS 10000000000ULL /* GPUs unused for less are not reported */
/* Writes the lines on GPUs and energy, if the run has their values. */
void hardware_text(FILE *f, const struct summary *s);
/* Writes a warning if the run has held GPUs and never used them. */
void gpus_idle_text(FILE *f, const struct summary *s);

/* Writes which of the GPUs held do no work at the sample; nothing if all do, or it is unknown. */
void gpus_now_text(FILE *f, const struct sample *now);

/* Writes the line on pushed marks and metrics, if there were any. */
void pushed_text(FILE *f, const struct summary *s);

/* Writes the lines on sockets, without counters that were not read or are 0. */
void network_text(FILE *f, const struct summary *s);

/*
 * Returns the peak of the resident memory of all processes: exact, of the bounds the higher if they
 * are close, else the lower; 0 if unknown.
 */
uint64_t memory_peak_bytes(const struct summary *s);
/*
 * Writes how a run with a status ended, apart from a limit, in the same words everywhere: "ended
 * with 3", "was killed by signal 9 (Killed)".
 */
#define RUN_END_BYTES 96
char *format_run_end(char out[RUN_END_BYTES], const struct summary *s);

#endif
