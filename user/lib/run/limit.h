/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of a run, and the record of a limit that was exceeded. */
#ifndef RUN_LIMIT_H
#define RUN_LIMIT_H

#include "base/json.h"
#include "run/metric.h"
#include "run/process.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define MAX_LIMITS 16
#define LIMIT_TEXT 128      /* text as typed, with its NUL */
#define MAX_LIMIT_PARTS 2   /* metrics that one limit adds up */
#define LIMIT_SPAN_BYTES 64 /* start of a span's name, with its NUL */

/* Scope of a limit: the whole run, each process, or each span. */
enum limit_of { LIMIT_OF_RUN, LIMIT_OF_PROCESS, LIMIT_OF_SPAN, NR_LIMIT_OF };

struct limit {
	enum limit_of of;
	bool is_wall;   /* limits the time since the start of the run, process or span */
	bool is_needed; /* limits the memory needed; RSS is its upper bound */
	enum metric_id parts[MAX_LIMIT_PARTS];
	unsigned nr_parts;
	bool is_soft;          /* true: only report it; false: end the run */
	uint64_t most;         /* in the unit of the metric; times in ns */
	char text[LIMIT_TEXT]; /* as typed, for messages */
};

/* The first value that exceeded a limit. */
struct limit_hit {
	char text[LIMIT_TEXT]; /* text of the limit; empty if none was exceeded */
	bool is_end;           /* the run was ended because of it */
	enum metric_unit unit; /* UNIT_NS for a time */
	uint64_t value, elapsed_ns;
	/*
	 * Only for a limit of RSS, which counts a shared page once per process: the memory that the
	 * run needs is below the limit, so the run goes on.
	 */
	bool is_contradicted;
	uint64_t needed_bytes;
	bool has_process; /* a process is known that exceeded the limit or has the largest share */
	int32_t pid;
	char comm[COMM_TEXT_BYTES];
	uint64_t span; /* the span that exceeded it; 0 if the limit is not one of spans */
	char span_name[LIMIT_SPAN_BYTES];
};

/* Prefix of the metric's name in a limit, by enum limit_of; "" for the run. */
extern const char *const limit_of_words[NR_LIMIT_OF];

/*
 * Parses the scope and metric at the beginning of @text ("process.rss<2GiB") into @l. The metric is
 * a key or one of the short names memory, rss, pss, uss, swap, cpu, read, write, net (both
 * directions), wall. Returns the rest of the text. Sets *@err to 0, -ENOENT if there is no such
 * key, or -EINVAL if the metric is not measured per process or per span.
 */
const char *limit_set_from_text(struct limit *l, const char *text, int *err);
enum metric_unit limit_unit(const struct limit *l);

/* Writes the list "limits"; writes nothing if @nr is 0. */
void run_limits_write(struct jsonw *j, const struct limit *limits, size_t nr);
/* Reads the list, or none if NULL, into @limits (MAX_LIMITS). Returns 0, or -EBADMSG with @why. */
int run_limits_read(struct limit *limits, unsigned *nr, const json_t *list, char *why, size_t size);

/* Write and read @hit as members of an object. Reading returns false if they are missing. */
void limit_hit_write(struct jsonw *j, const struct limit_hit *hit);
bool limit_hit_read(struct limit_hit *hit, const json_t *object);

/*
 * Looks up a unit: B KiB MiB GiB TiB; K M G T, the same powers of 1024; kB MB GB TB of 1000; us ms
 * s min h d. @factor converts to bytes or seconds. Returns -ENOENT if @suffix is unknown.
 */
int suffix_find(const char *suffix, enum metric_unit *of, double *factor);

#endif
