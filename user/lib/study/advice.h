/* SPDX-License-Identifier: BSD-2-Clause */
/* Advice on what to request for a run that is like earlier ones. */
#ifndef STUDY_ADVICE_H
#define STUDY_ADVICE_H

#include "store/query.h"
#include "study/allocation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A least-squares line. */
struct line_fit {
	double base, slope; /* y = base + slope x */
	double explained;   /* the share of y's variance, 0 to 1 */
	double above;       /* the largest distance of a point above the line */
};

/* Fits a line. Returns false for fewer than three points, for the same x everywhere, and for
 * numbers with squares that overflow. */
bool line_fit(struct line_fit *fit, const double *x, const double *y, size_t nr);

#define SIZE_TAG_BYTES 256
#define FEW_RUNS 10 /* fewer are too few for good advice */
/* Thousandths of a core that a program with one thread uses besides: its shell, its launcher. */
#define CORES_NOISE 50

/* The distribution over all runs: bytes, thousandths of cores, or ns. */
struct spread {
	uint64_t median, p95, p99, largest;
};

/* How much of the requests of runs was used, weighted by their time. */
struct use {
	size_t nr;        /* runs with a known request */
	size_t nr_beyond; /* runs that needed more */
	double share;
};

struct advice {
	size_t nr;            /* runs that were used: finished, with known values */
	size_t nr_left;       /* runs left out: unfinished, or without values */
	size_t nr_failed;     /* runs that were used and ended with an error */
	size_t nr_incomplete; /* runs that were used and lost something */
	bool has_names;       /* their names differ */
	size_t nr_written;    /* runs with known bytes written */
	struct spread memory, cores, wall, written; /* memory: what runs needed */
	struct spread rss;
	uint64_t memory_request; /* enough for all of them, with a margin */
	uint64_t cores_request;  /* whole cores */
	uint64_t wall_request, written_request;
	double beyond;  /* probability that the next run needs more than the largest */
	double covered; /* least share of such runs that the largest is enough for, with 95 %
			   certainty */
	struct use memory_use, cores_use;
	/* if a run that needs more is restarted with twice the request; of runs that fit the node:
	 */
	struct allocation least_waste, most_runs; /* request 0: none fits */
	struct node node;                         /* capacity 0: unknown */
	size_t nr_too_large;
	bool has_size;         /* the size of the input explains the memory */
	bool size_is_of_files; /* of the files in the command; otherwise the value of the tag */
	char size_tag[SIZE_TAG_BYTES];
	struct line_fit by_size; /* bytes over the tag's number, or over the bytes of the files */
	size_t nr_sized;         /* runs with a size */
};

struct advice_from {
	const struct run_request *requests; /* of the first @nr_requests runs */
	size_t nr_requests;
	struct node node;     /* that runs must fit; capacity 0: unknown */
	const char *size_tag; /* tag with the size of the input; NULL: the one that explains most */
};

/* Makes advice from @runs, the newest first. -ENODATA: none of them can be used; -ENOMEM. */
int advice_make(struct advice *a, const struct stored_runs *runs, const struct advice_from *from);

#endif
