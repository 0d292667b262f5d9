/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Computes what to request of a resource for a run that is like earlier ones, if a run that needs
 * more is killed and restarted with twice the request. After B. Tovar et al., "A Job Sizing
 * Strategy for High-Throughput Scientific Workflows", IEEE TPDS 29(2), 2018, where the retry gets
 * the largest request.
 */
#ifndef STUDY_ALLOCATION_H
#define STUDY_ALLOCATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Peak of the resource and duration of a run, both above 0, in any units. */
struct need {
	double peak, time;
};

/* A machine for runs. */
struct node {
	double capacity; /* of the resource */
	double most;     /* most runs at once, limited by its CPUs; 0: unknown */
};

/*
 * The cost of a first request. A killed attempt counts with the whole time of the run, because the
 * time of its peak is unknown.
 */
struct allocation {
	double request;
	double held;      /* sum of request times time over all attempts */
	double used;      /* share of it that successful attempts needed */
	double retried;   /* share of runs restarted */
	double node_time; /* mean time that a run occupies a node; 0 without a node */
};

struct needs {
	struct need *all; /* owned; ascending peaks */
	double *times;    /* owned; [nr + 1]: sum of the times before each index */
	double used;      /* sum of peak times time */
	size_t nr;
};

/* Copies and sorts the @nr (> 0) needs. Returns 0 or -ENOMEM. */
int needs_open(struct needs *n, const struct need *all, size_t nr);
void needs_done(struct needs *n);
/* Returns the cost of @request (> 0), limited to the capacity of @node, which may be NULL. */
struct allocation needs_try(const struct needs *n, double request, const struct node *node);
/* Returns the request that holds, and therefore wastes, the least. */
struct allocation needs_least_waste(const struct needs *n, const struct node *node);
/*
 * Returns the request with the most runs per node and time; among equal ones, that which holds
 * least.
 */
struct allocation needs_most_runs(const struct needs *n, const struct node *node);

/* What a run requested, and other values of its meta and summary lines; -1 if unknown. */
struct run_request {
	int64_t memory_bytes, milli_cores; /* of its scheduler, or limits of its cgroup */
	int64_t needed_bytes;              /* memory that it needed */
	int64_t write_bytes;               /* written to storage */
	int64_t argument_bytes;            /* present size of the files in its command */
	int64_t gpus_held;                 /* the most GPUs at one time */
	int64_t milli_gpus;                /* of them in use at one time */
	int64_t gpu_bytes, gpu_ns;         /* the most GPU memory; time that GPUs worked */
	bool has_other_gpus;               /* it held a GPU that is not of NVIDIA */
};

#define RUN_REQUEST_UNKNOWN ((struct run_request){ -1, -1, -1, -1, -1, -1, -1, -1, -1, false })

/* Returns true if @name, that of an instance of the dimension "gpu", is one of NVIDIA. */
bool gpu_is_of_nvidia(const char *name);

/* Read values of a meta or summary line. Files are looked up only if the run was on @host. */
void run_request_read_meta(struct run_request *r, const char *line, const char *host);
void run_request_read_summary(struct run_request *r, const char *line);

#endif
