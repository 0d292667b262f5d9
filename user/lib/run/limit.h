/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of a run: what was asked for, and what has gone beyond it. */
#ifndef RUN_LIMIT_H
#define RUN_LIMIT_H

#include "base/json.h"
#include "run/metric.h"
#include "run/process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_LIMITS 16
#define LIMIT_TEXT 128      /* as it was written, with its NUL */
#define MAX_LIMIT_PARTS 2   /* metrics of which a limit is of the sum */
#define LIMIT_SPAN_BYTES 64 /* of the name of a span, with its NUL: its beginning */

/* The sum of all that the run has, or each of its processes, or each of its spans. */
enum limit_of { LIMIT_OF_RUN, LIMIT_OF_PROCESS, LIMIT_OF_SPAN, NR_LIMIT_OF };

struct limit {
	enum limit_of of;
	bool is_wall;   /* of time since the start, of the run or what it is of; else of: */
	bool is_needed; /* the memory that the run needs; its part is RSS, which bounds that */
	enum metric_id parts[MAX_LIMIT_PARTS];
	unsigned nr_parts;
	bool is_soft;          /* it is reported; else the run is ended */
	uint64_t most;         /* in the metric's unit, times in ns */
	char text[LIMIT_TEXT]; /* for people */
};

/* The first that has gone beyond a limit, and by how much then. */
struct limit_hit {
	char text[LIMIT_TEXT]; /* that of the limit; empty: nothing has gone beyond one */
	bool is_end;           /* the run was ended for it */
	enum metric_unit unit; /* UNIT_NS for a time */
	uint64_t value, elapsed_ns;
	/* of a limit of RSS, which has shared pages for each process: the run needs less than the
	 * limit, and goes on */
	bool is_contradicted;
	uint64_t needed_bytes;
	bool has_process; /* that has, or that has the most of it */
	int32_t pid;
	char comm[COMM_TEXT_BYTES];
	uint64_t span; /* that is beyond it; 0: it is no limit of spans */
	char span_name[LIMIT_SPAN_BYTES];
};

/* The words before the name of a metric, by enum limit_of; "" for the run. */
extern const char *const limit_of_words[NR_LIMIT_OF];

/*
 * Sets what @l limits from the beginning of @text ("process.rss<2GiB"): the key of a metric, or one
 * of the short names memory, rss, pss, uss, swap, cpu, read, write, net (both ways), wall. Returns
 * the rest of the text. *@err: 0; -ENOENT: no such key; -EINVAL: the metric is not measured per
 * process, or per span.
 */
const char *limit_set_from_text(struct limit *l, const char *text, int *err);
enum metric_unit limit_unit(const struct limit *l);

/* Limits of a run in requests, and what has gone beyond one in events and summaries. */

/* The list "limits"; nothing where there are none. */
void run_limits_write(struct jsonw *j, const struct limit *limits, size_t nr);
/* Reads it (NULL: there is none) into @limits (MAX_LIMITS). -EBADMSG, with @why. */
int run_limits_read(struct limit *limits, unsigned *nr, const json_t *list, char *why, size_t size);

/* The keys of @hit, within the object that is open; and of an object. False: they are not there. */
void limit_hit_write(struct jsonw *j, const struct limit_hit *hit);
bool limit_hit_read(struct limit_hit *hit, const json_t *object);

/*
 * Units behind a number as people write them: B KiB MiB GiB TiB, K M G T for the same, kB MB GB TB
 * of 1000, and us ms s min h d.
 */

/* -ENOENT: @suffix is none. @factor is to bytes, or to seconds. */
int suffix_find(const char *suffix, enum metric_unit *of, double *factor);

#endif
