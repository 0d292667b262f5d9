/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How much of a resource to request for a run that is like earlier ones, where a run that needs
 * more is ended and started again with twice the request. After B. Tovar et al., "A Job Sizing
 * Strategy for High-Throughput Scientific Workflows", IEEE TPDS 29(2), 2018, who retry with the
 * largest one.
 */
#ifndef STUDY_ALLOCATION_H
#define STUDY_ALLOCATION_H

#include <stddef.h>
#include <stdint.h>

/* What a run needed at its peak, and how long it took: both above 0, in any units. */
struct need {
	double peak, time;
};

/* Where runs are to fit in: it has that much of the resource, and CPUs for so many at once. */
struct node {
	double capacity;
	double most; /* 0: not known */
};

/*
 * What a first request costs. An attempt that is ended counts with the whole time of the run: when
 * a run reaches its peak is not known.
 */
struct allocation {
	double request;
	double held;      /* requested times time, of all attempts of all runs */
	double used;      /* the share of it that the attempts that came to their end needed */
	double retried;   /* the share of runs that were started again */
	double node_time; /* how long a node is busy with one run, on average; 0: without a node */
};

struct needs {
	struct need *all; /* owned; the smallest peak first */
	double *times;    /* owned; the sum of the times of all before that place; nr + 1 */
	double used;      /* the sum of peaks times times */
	size_t nr;
};

/* Takes a copy of the @nr (> 0) needs. -ENOMEM. */
int needs_open(struct needs *n, const struct need *all, size_t nr);
void needs_done(struct needs *n);
/* What @request (> 0) costs. @node may be NULL; a request above its capacity is that. */
struct allocation needs_try(const struct needs *n, double request, const struct node *node);
/* The request that holds the least, and so leaves the least unused. */
struct allocation needs_least_waste(const struct needs *n, const struct node *node);
/* The request with which nodes get through the most runs; of equal ones that which holds the least.
 */
struct allocation needs_most_runs(const struct needs *n, const struct node *node);

/* What a run had requested, and what else only its first and its last line tell. */

/* What is not known is -1. */
struct run_request {
	int64_t memory_bytes, milli_cores; /* of its scheduler, else the limits of its cgroup */
	int64_t needed_bytes;              /* the memory that it needed */
	int64_t write_bytes;               /* written to storage */
	int64_t argument_bytes; /* the files that its command names, as large as they are now */
};

/*
 * Each sets what that line of the run tells; what cannot be read is left as it is. Files are looked
 * for only if the run was on @host.
 */
void run_request_read_meta(struct run_request *r, const char *line, const char *host);
void run_request_read_summary(struct run_request *r, const char *line);

#endif
