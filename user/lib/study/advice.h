/* SPDX-License-Identifier: BSD-2-Clause */
/* What to request for a run that is like earlier ones. */
#ifndef STUDY_ADVICE_H
#define STUDY_ADVICE_H

#include "store/query.h"
#include "study/allocation.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A straight line through points, and how much it explains. */

struct line_fit {
	double base, slope; /* y = base + slope x */
	double explained;   /* the share of y's variance, 0 to 1 */
	double above;       /* the most that any point is above the line */
};

/* The line of least squares. False: all have the same x, fewer than three points, or numbers whose
 * squares are too large. */
bool line_fit(struct line_fit *fit, const double *x, const double *y, size_t nr);

#define SIZE_TAG_BYTES 256
#define FEW_RUNS 10 /* below that little is known */
/* Thousandths of a core that a program of one thread uses beside it: its shell, what starts it. */
#define CORES_NOISE 50

/* Of all runs, in the unit of each: bytes, thousandths of cores, ns. */
struct spread {
	uint64_t median, p95, p99, largest;
};

/* How much of what was requested for runs was used, over all their time. */
struct use {
	size_t nr;        /* runs of which the request is known; 0: of none */
	size_t nr_beyond; /* that needed more */
	double share;
};

struct advice {
	size_t nr;            /* runs that it is of: they have ended, and their values are known */
	size_t nr_left;       /* that were left out: unfinished, or without values */
	size_t nr_failed;     /* that are in it, though they ended with an error */
	size_t nr_incomplete; /* likewise, though something of them was lost */
	bool has_names;       /* not all have the same */
	size_t nr_written;    /* of which it is known what they have written; 0: of none */
	struct spread memory, cores, wall, written; /* memory: what runs needed */
	struct spread rss;
	uint64_t memory_request; /* enough for all of them, and some more */
	uint64_t cores_request;  /* whole ones */
	uint64_t wall_request, written_request;
	double beyond;  /* the chance that the next run needs more than the largest did */
	double covered; /* the share of all such runs that the largest is enough for, at least, with
			   a certainty of 95 % */
	struct use memory_use, cores_use;
	/* Where a run that needs more is started again with twice the request, of the runs that fit
	 * into the node: */
	struct allocation least_waste, most_runs; /* request 0: none fits */
	struct node node;                         /* capacity 0: not known */
	size_t nr_too_large;
	bool has_size;         /* of the input: it explains the memory */
	bool size_is_of_files; /* that the commands name; else of the tag */
	char size_tag[SIZE_TAG_BYTES];
	struct line_fit by_size; /* bytes, by the tag's number, or the bytes of the files */
	size_t nr_sized;         /* runs with a size */
};

struct advice_from {
	const struct run_request *requests; /* of the first @nr_requests runs */
	size_t nr_requests;
	struct node node;     /* where runs are to fit in; capacity 0: not known */
	const char *size_tag; /* the tag with the size of the input; NULL: what explains the most */
};

/*
 * From @runs, the newest first. -ENODATA: none of them can be used; -ENOMEM.
 */
int advice_make(struct advice *a, const struct stored_runs *runs, const struct advice_from *from);

#endif
