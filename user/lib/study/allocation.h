/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What to request of a resource for a run that is like earlier ones, if a run that needs more is
 * ended and restarted with twice the request. After B. Tovar et al., "A Job Sizing
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

/* A machine for runs. */
struct node {
	double capacity; /* of the resource */
	double most;     /* runs at once, by its CPUs; 0: unknown */
};

/*
 * The cost of a first request. An attempt that is ended counts with the whole time of the run,
 * because the time of the peak is unknown.
 */
struct allocation {
	double request;
	double held;      /* request times time, of all attempts of all runs */
	double used;      /* share of it that successful attempts needed */
	double retried;   /* share of runs that were restarted */
	double node_time; /* how long a node is busy with one run, on average; 0: without a node */
};

struct needs {
	struct need *all; /* owned; the smallest peak first */
	double *times;    /* owned; [nr + 1]: sum of the times before that index */
	double used;      /* sum of peak times time */
	size_t nr;
};

/* Copies the @nr (> 0) needs. -ENOMEM. */
int needs_open(struct needs *n, const struct need *all, size_t nr);
void needs_done(struct needs *n);
/* Returns the cost of @request (> 0), at most the capacity of @node, which may be NULL. */
struct allocation needs_try(const struct needs *n, double request, const struct node *node);
/* Returns the request that holds, and so wastes, the least. */
struct allocation needs_least_waste(const struct needs *n, const struct node *node);
/* Returns the request with the most runs per node and time; of equal ones the one that holds least.
 */
struct allocation needs_most_runs(const struct needs *n, const struct node *node);

/* What a run requested, and other values of its meta and summary lines. Unknown values are -1. */
struct run_request {
	int64_t memory_bytes, milli_cores; /* from its scheduler, or the limits of its cgroup */
	int64_t needed_bytes;              /* memory that it needed */
	int64_t write_bytes;               /* written to storage */
	int64_t argument_bytes;            /* present size of the files in its command */
};

/*
 * Read the values of a meta or summary line; those that are absent do not change. Files are looked
 * up only if the run was on @host.
 */
void run_request_read_meta(struct run_request *r, const char *line, const char *host);
void run_request_read_summary(struct run_request *r, const char *line);

#endif
