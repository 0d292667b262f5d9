// SPDX-License-Identifier: BSD-2-Clause
#include "study/allocation.h"

#include "base/jansson_memory.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CANDIDATES 4096 /* peaks tried; quantiles of more runs */

static int need_order(const void *a, const void *b)
{
	const struct need *x = a, *y = b;

	return (x->peak > y->peak) - (x->peak < y->peak);
}

int needs_open(struct needs *n, const struct need *all, size_t nr)
{
	*n = (struct needs){ .nr = nr };
	n->all = memory_malloc(nr * sizeof(*n->all));
	n->times = memory_malloc((nr + 1) * sizeof(*n->times));
	if (!n->all || !n->times) {
		needs_done(n);
		return -ENOMEM;
	}
	memcpy(n->all, all, nr * sizeof(*n->all));
	qsort(n->all, nr, sizeof(*n->all), need_order);
	n->times[0] = 0;
	for (size_t i = 0; i < nr; i++) {
		n->times[i + 1] = n->times[i] + n->all[i].time;
		n->used += n->all[i].peak * n->all[i].time;
	}
	return 0;
}

void needs_done(struct needs *n)
{
	free(n->all);
	free(n->times);
	*n = (struct needs){ 0 };
}

/* Returns the number of runs that need no more than @request. */
static size_t needs_within(const struct needs *n, double request)
{
	size_t low = 0, high = n->nr;

	while (low < high) {
		const size_t middle = low + (high - low) / 2;

		if (n->all[middle].peak <= request)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Returns the share of a node that one attempt occupies. */
static double node_share(const struct node *node, double request)
{
	double slots = fmax(floor(node->capacity / request), 1);

	return 1 / (node->most > 0 ? fmin(slots, fmax(node->most, 1)) : slots);
}

struct allocation needs_try(const struct needs *n, double request, const struct node *node)
{
	const double first = node && request > node->capacity ? node->capacity : request;
	struct allocation a = { .request = first };
	size_t done = 0, within = needs_within(n, first);
	double now = first;

	if (!node || first < node->capacity)
		a.retried = (double)(n->nr - within) / (double)n->nr;
	/* each attempt includes all runs that have not succeeded yet */
	for (; done < n->nr; done = within, now *= 2) {
		const double time = n->times[n->nr] - n->times[done];

		if (node && now > node->capacity)
			now = node->capacity;
		within = needs_within(n, now);
		if (node && now >= node->capacity)
			within = n->nr; /* the last attempt: these runs did fit a whole node */
		a.held += now * time;
		if (node)
			a.node_time += node_share(node, now) * time / (double)n->nr;
		if (within == n->nr)
			break;
	}
	a.used = n->used / a.held;
	return a;
}

static bool holds_less(const struct allocation *a, const struct allocation *b)
{
	return a->held < b->held;
}

static bool takes_less(const struct allocation *a, const struct allocation *b)
{
	return a->node_time < b->node_time || (!(a->node_time > b->node_time) && a->held < b->held);
}

/*
 * Of all requests with which the same runs succeed at the same attempt, the smallest is best. So
 * the best request is a peak divided by a power of two. One below all peaks only adds a useless
 * attempt.
 */
static struct allocation needs_best(const struct needs *n, const struct node *node,
				    bool (*is_better)(const struct allocation *,
						      const struct allocation *))
{
	const size_t nr = n->nr < CANDIDATES ? n->nr : CANDIDATES;
	struct allocation best = needs_try(n, n->all[n->nr - 1].peak, node), one;

	for (size_t i = 1; i <= nr; i++) {
		double request = n->all[i * n->nr / nr - 1].peak;

		while (request >= n->all[0].peak) {
			one = needs_try(n, request, node);
			request /= 2;
			if (is_better(&one, &best))
				best = one;
		}
	}
	return best;
}

struct allocation needs_least_waste(const struct needs *n, const struct node *node)
{
	return needs_best(n, node, holds_less);
}

struct allocation needs_most_runs(const struct needs *n, const struct node *node)
{
	return needs_best(n, node, takes_less);
}

#define MIB (1LL << 20)
#define MILLI 1000
#define MOST (1LL << 60) /* larger values are ignored */

/* Returns the string @name of @in as a number; -1 if it is absent. */
static int64_t variable_count(const json_t *in, const char *name)
{
	const char *text = json_string_value(json_object_get(in, name));
	char *end;
	long long value;

	if (!text || *text < '0' || *text > '9')
		return -1;
	value = strtoll(text, &end, 10);
	return *end || value > MOST / MIB ? -1 : value;
}

static int64_t number_times(const json_t *in, const char *name, double times)
{
	const json_t *number = json_object_get(in, name);
	const double value = json_is_number(number) ? json_number_value(number) * times : -1;

	return value >= 0 && value < (double)MOST ? (int64_t)value : -1;
}

/* Only Slurm has the memory in variables, in MiB. */
static int64_t memory_requested(const json_t *variables, const json_t *limits)
{
	const int64_t of_node = variable_count(variables, "SLURM_MEM_PER_NODE");
	const int64_t of_cpu = variable_count(variables, "SLURM_MEM_PER_CPU");
	const int64_t cpus = variable_count(variables, "SLURM_CPUS_ON_NODE");

	if (of_node > 0) /* 0 requests all memory of the node */
		return of_node * MIB;
	if (of_cpu > 0 && cpus > 0 && of_cpu <= MOST / MIB / cpus)
		return of_cpu * cpus * MIB;
	return number_times(limits, "memory_max_bytes", 1);
}

static int64_t cores_requested(const json_t *variables, const json_t *limits)
{
	static const char *const names[] = { "SLURM_CPUS_ON_NODE", "PBS_NUM_PPN",
					     "LSB_DJOB_NUMPROC", "NSLOTS" };

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const int64_t cores = variable_count(variables, names[i]);

		if (cores > 0)
			return cores * MILLI;
	}
	return number_times(limits, "cpu_max_cores", MILLI);
}

/*
 * Sums the sizes of regular files in the arguments of the command, including values of options.
 * Returns -1 if there are none.
 */
static int64_t arguments_weigh(const json_t *meta)
{
	const char *folder = json_string_value(json_object_get(meta, "cwd"));
	const int at = folder ? open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	const json_t *words = json_object_get(meta, "command");
	int64_t sum = -1;
	struct stat st;

	for (size_t i = 1; at >= 0 && i < json_array_size(words); i++) {
		const char *word = json_string_value(json_array_get(words, i));
		const char *equals = word && *word == '-' ? strchr(word, '=') : NULL;

		if (!word || fstatat(at, equals ? equals + 1 : word, &st, 0) ||
		    !S_ISREG(st.st_mode) || st.st_size > MOST)
			continue;
		sum = (sum < 0 ? 0 : sum) + st.st_size;
		if (sum > MOST)
			sum = MOST;
	}
	if (at >= 0)
		close(at);
	return sum;
}

void run_request_read_meta(struct run_request *r, const char *line, const char *host)
{
	json_t *meta = jansson_loads(line, JSON_ALLOW_NUL, NULL);
	const json_t *variables = json_object_get(meta, "scheduler");
	const json_t *limits = json_object_get(meta, "limits");
	const char *was_on = json_string_value(json_object_get(meta, "host"));

	r->memory_bytes = memory_requested(variables, limits);
	r->milli_cores = cores_requested(variables, limits);
	if (was_on && !strcmp(was_on, host))
		r->argument_bytes = arguments_weigh(meta);
	json_decref(meta);
}

bool gpu_is_of_nvidia(const char *name)
{
	return !strncmp(name, "GPU-", 4) || !strncmp(name, "MIG-", 4);
}

void run_request_read_summary(struct run_request *r, const char *line)
{
	json_t *summary = jansson_loads(line, JSON_ALLOW_NUL, NULL);
	const char *name;
	json_t *gpu;

	json_object_foreach(json_object_get(json_object_get(summary, "by"), "gpu"), name, gpu)
		r->has_other_gpus |= !gpu_is_of_nvidia(name);
	r->needed_bytes = number_times(summary, "memory_needed_bytes", 1);
	r->write_bytes = number_times(summary, "write_bytes", 1);
	r->gpus_held = number_times(summary, "gpus_held_peak", 1);
	r->milli_gpus = number_times(summary, "gpus_used_peak", MILLI);
	r->gpu_bytes = number_times(summary, "gpu_memory_peak_bytes", 1);
	r->gpu_ns = number_times(summary, "gpu_seconds", 1e9);
	json_decref(summary);
}
