/* SPDX-License-Identifier: BSD-2-Clause */
/* Advises what to request for a run that is like earlier ones. */
#ifndef STUDY_ADVICE_H
#define STUDY_ADVICE_H

#include "base/json.h"
#include "run/span.h"
#include "store/query.h"
#include "study/allocation.h"
#include "text/answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

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
	size_t nr_gpus;       /* runs that held GPUs, whose use is known */
	size_t nr_gpu_memory; /* runs that used memory of GPUs */
	struct spread memory, cores, wall, written; /* memory is what runs needed */
	struct spread gpus, gpu_memory;             /* thousandths of GPUs in use at one time */
	struct spread rss;
	uint64_t memory_request; /* the largest, with a margin */
	uint64_t cores_request;  /* whole cores */
	uint64_t wall_request, written_request;
	uint64_t gpus_request, gpu_memory_request; /* whole GPUs; 0 if none was used */
	bool has_other_gpus;                       /* one of them is not of NVIDIA */
	double beyond;  /* probability that the next run needs more than the largest */
	double covered; /* least share of runs that the largest suffices for, at 95 % confidence */
	struct use memory_use, cores_use;
	struct use gpus_use; /* of the GPUs held */
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

/* As text, as JSON, and as directives of schedulers and workflow systems. */

enum advice_for { FOR_PEOPLE, FOR_SLURM, FOR_KUBERNETES, FOR_NEXTFLOW, FOR_SNAKEMAKE, NR_FOR };

/* Values of --for; NULL for FOR_PEOPLE. */
extern const char *const advice_for_words[NR_FOR];

/* Print the advice. @what names its runs, such as "align"; NULL means all runs. */
void advice_print(FILE *f, const struct advice *a, const char *what);
/* Prints the table of needs and requests. */
void advice_print_needs(FILE *f, const struct advice *a);
/* Writes members of an object, the first with the key @of. */
void advice_json_members(struct jsonw *j, const struct advice *a, const char *of, uint64_t nr);
void advice_json(struct jsonw *j, const struct advice *a, const char *what);
/* Prints the directives for @to, which is not FOR_PEOPLE. */
void advice_lines(FILE *f, const struct advice *a, enum advice_for to);

/* For a part of a run, such as a job of a workflow, from its spans. */

/* The spans of one name, over all runs. */
struct span_group {
	char *name;                   /* owned */
	struct stored_runs spans;     /* owned; each as if it were a run */
	struct run_request *requests; /* owned; one for each */
	size_t requests_room;
	size_t nr_runs, last_run; /* runs with such a span; index of the last one */
	struct answer answer;     /* of the span that needed most memory */
};

struct span_groups {
	struct span_group *all; /* owned */
	size_t nr, room;
	uint64_t left_out; /* spans beyond the limits */
};

/* Adds a span of run number @run; runs come one after the other. Returns 0 or -ENOMEM. */
int span_groups_add(struct span_groups *groups, const struct span *s, size_t run);
/* Sorts the groups by name. */
void span_groups_sort(struct span_groups *groups);
void span_groups_done(struct span_groups *groups);

/*
 * Makes advice from the spans of a group: its memory is that of the summary of a run, for the span
 * that needed most. Errors as advice_make().
 */
int span_group_advise(const struct span_group *g, const struct node *node, struct advice *a);
/* Prints the advice for people, or the directives for @to below a comment. */
void span_advice_print(FILE *f, const struct span_group *g, const struct advice *a,
		       enum advice_for to);
/* Writes the advice as an element of a list. */
void span_advice_json(struct jsonw *j, const struct span_group *g, const struct advice *a);

#endif
