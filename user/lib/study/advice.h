/* SPDX-License-Identifier: BSD-2-Clause */
/* Advises what to request for a run that is like earlier ones. */
#ifndef STUDY_ADVICE_H
#define STUDY_ADVICE_H

#include "store/query.h"
#include "study/allocation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct line_fit {
	double base, slope; /* y = base + slope x */
	double explained;   /* share of y's variance, 0 to 1 */
	double above;       /* largest distance of a point above the line */
};

/*
 * Fits a line. Returns false for fewer than three points, a constant x, or values whose squares
 * overflow.
 */
bool line_fit(struct line_fit *fit, const double *x, const double *y, size_t nr);

#define SIZE_TAG_BYTES 256
#define FEW_RUNS 10 /* advice from fewer runs is unreliable */
/*
 * Allowance for helpers of a single-threaded program, such as its shell, in thousandths of a core.
 */
#define CORES_NOISE 50

/* A distribution over all runs: bytes, thousandths of cores, or ns. */
struct spread {
	uint64_t median, p95, p99, largest;
};

/* Use of what runs requested, weighted by their wall time. */
struct use {
	size_t nr;        /* runs with a known request */
	size_t nr_beyond; /* of these, runs that needed more */
	double share;
};

struct advice {
	size_t nr;            /* runs used: finished, with known values */
	size_t nr_left;       /* runs left out: unfinished, or with unknown values */
	size_t nr_failed;     /* used runs that failed */
	size_t nr_incomplete; /* used runs with losses */
	bool has_names;       /* the names of the runs differ */
	size_t nr_written;    /* runs with known bytes written */
	struct spread memory, cores, wall, written; /* memory is what runs needed */
	struct spread rss;
	uint64_t memory_request; /* the largest, with a margin */
	uint64_t cores_request;  /* whole cores */
	uint64_t wall_request, written_request;
	double beyond;  /* probability that the next run needs more than the largest */
	double covered; /* least share of runs that the largest suffices for, at 95 % confidence */
	struct use memory_use, cores_use;
	/*
	 * for runs that fit the node, if those that need more are restarted with twice the request:
	 */
	struct allocation least_waste, most_runs; /* request is 0 if none fits */
	struct node node;                         /* capacity is 0 if unknown */
	size_t nr_too_large;
	bool has_size;         /* the size of the input explains the memory */
	bool size_is_of_files; /* size of the files in the command, not the value of the tag */
	char size_tag[SIZE_TAG_BYTES];
	struct line_fit by_size; /* bytes over the tag's number or the files' bytes */
	size_t nr_sized;
};

struct advice_from {
	const struct run_request *requests; /* one for each of the first @nr_requests runs */
	size_t nr_requests;
	struct node node;     /* that runs must fit; capacity 0: unknown */
	const char *size_tag; /* tag with the size of the input; NULL: whatever explains most */
};

/*
 * Makes advice from @runs, the newest first. Returns 0, -ENODATA if none of them can be used, or
 * -ENOMEM.
 */
int advice_make(struct advice *a, const struct stored_runs *runs, const struct advice_from *from);

#endif
