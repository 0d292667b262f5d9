// SPDX-License-Identifier: BSD-2-Clause
#include "study/advice.h"

#include "base/memory.h"
#include "study/allocation.h"
#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The runs that are used, and buffers for their values. */

struct chosen {
	const struct stored_run **runs;      /* array owned, elements not; the newest first */
	const struct run_request **requests; /* array owned, elements not; NULL if unknown */
	double *values, *sizes;              /* owned; buffers for a value of each run */
	struct need *needs;                  /* owned */
	size_t nr;
};

#define NS 1e9

static void chosen_done(struct chosen *c)
{
	free(c->runs);
	free(c->requests);
	free(c->values);
	free(c->sizes);
	free(c->needs);
}

static bool names_are_same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

static bool run_is_usable(const struct stored_run *r)
{
	return r->state == RUN_FINISHED && r->rss_peak_bytes > 0 && r->wall_ns > 0 &&
	       r->cpu_ns >= 0;
}

/* Returns the memory that a run needed, or the peak of its RSS if that is unknown. */
static double memory_needed(const struct stored_run *r, const struct run_request *request)
{
	return (double)(request && request->needed_bytes > 0 ? request->needed_bytes
							     : r->rss_peak_bytes);
}

/*
 * Collects the usable runs. Returns 0, -ENODATA if there are none, or -ENOMEM. Call chosen_done()
 * in any case.
 */
static int chosen_open(struct chosen *c, const struct stored_runs *runs,
		       const struct run_request *requests, size_t nr_requests, struct advice *a)
{
	const size_t room = runs->nr + 1;
	const char *first = NULL;

	*c = (struct chosen){ 0 };
	c->runs = memory_calloc(room, sizeof(*c->runs));
	c->requests = memory_calloc(room, sizeof(*c->requests));
	c->values = memory_calloc(room, sizeof(*c->values));
	c->sizes = memory_calloc(room, sizeof(*c->sizes));
	c->needs = memory_calloc(room, sizeof(*c->needs));
	if (!c->runs || !c->requests || !c->values || !c->sizes || !c->needs)
		return -ENOMEM;
	for (size_t i = 0; i < runs->nr; i++) {
		const struct stored_run *r = &runs->runs[i];

		if (!run_is_usable(r)) {
			a->nr_left++;
			continue;
		}
		a->nr_failed += r->exit_code > 0 || r->signal > 0;
		a->nr_incomplete += !r->is_complete;
		if (!c->nr)
			first = r->name;
		a->has_names = a->has_names || !names_are_same(r->name, first);
		c->runs[c->nr] = r;
		c->requests[c->nr] = i < nr_requests ? &requests[i] : NULL;
		c->needs[c->nr] = (struct need){ memory_needed(r, c->requests[c->nr]),
						 (double)r->wall_ns / NS };
		c->nr++;
	}
	return c->nr ? 0 : -ENODATA;
}

/* Returns the smallest value that at least the share @of of the values does not exceed. */
static uint64_t sorted_at(const double *sorted, size_t nr, double of)
{
	const double place = ceil(of * (double)nr);
	const size_t at = place < 1 ? 1 : (size_t)place;

	return (uint64_t)sorted[(at < nr ? at : nr) - 1];
}

/* Sorts the first @nr (> 0) of c->values and returns their distribution. */
static struct spread chosen_spread(struct chosen *c, size_t nr)
{
	stats_sort(c->values, nr);
	return (struct spread){ sorted_at(c->values, nr, 0.5), sorted_at(c->values, nr, 0.95),
				sorted_at(c->values, nr, 0.99), sorted_at(c->values, nr, 1) };
}

#define LEAST_POINTS 3

static double mean_of(const double *v, size_t nr)
{
	double sum = 0;

	for (size_t i = 0; i < nr; i++)
		sum += v[i];
	return sum / (double)nr;
}

bool line_fit(struct line_fit *fit, const double *x, const double *y, size_t nr)
{
	double mean_x, mean_y, xx = 0, xy = 0, yy = 0, residual;

	if (nr < LEAST_POINTS)
		return false;
	mean_x = mean_of(x, nr);
	mean_y = mean_of(y, nr);
	for (size_t i = 0; i < nr; i++) {
		xx += (x[i] - mean_x) * (x[i] - mean_x);
		xy += (x[i] - mean_x) * (y[i] - mean_y);
		yy += (y[i] - mean_y) * (y[i] - mean_y);
	}
	if (!(xx > 0) || !isfinite(xx) || !isfinite(xy) || !isfinite(yy))
		return false;
	fit->slope = xy / xx;
	fit->base = mean_y - fit->slope * mean_x;
	fit->explained = yy > 0 ? fmin(xy / xx * (xy / yy), 1) : 1;
	fit->above = 0;
	for (size_t i = 0; i < nr; i++) {
		residual = y[i] - fit->base - fit->slope * x[i];
		fit->above = fmax(fit->above, residual);
	}
	return true;
}

#define EXPLAINS 0.5 /* least share of the variance for a size to be reported */
#define CHANCE 0.05  /* probability that one of several unrelated sizes seems to explain as much */
#define LEAST_SIZED 5
#define OF_FILES NULL /* in place of a tag: the size of the files in the command */

/* Returns the value of the tag @key; NULL if the run has none. */
static const char *tag_value(const struct stored_run *r, const char *key)
{
	const size_t n = strlen(key);

	for (const char *t = r->tags; t && *t; t += strlen(t) + 1)
		if (!strncmp(t, key, n) && t[n] == '=')
			return t + n + 1;
	return NULL;
}

static bool tag_number(const struct stored_run *r, const char *key, double *size)
{
	const char *text = tag_value(r, key);
	char *end;

	if (!text)
		return false;
	*size = strtod(text, &end);
	return end != text && !*end && isfinite(*size);
}

static bool size_get(const struct chosen *c, size_t i, const char *tag, double *size)
{
	if (tag != OF_FILES)
		return tag_number(c->runs[i], tag, size);
	if (!c->requests[i] || c->requests[i]->argument_bytes < 0)
		return false;
	*size = (double)c->requests[i]->argument_bytes;
	return true;
}

/*
 * Fits a line to the size @tag, and keeps it if it explains more than the present one. Returns
 * false if no line fits.
 */
static bool size_try(struct advice *a, struct chosen *c, const char *tag)
{
	struct line_fit fit;
	size_t nr = 0;

	if (tag && strlen(tag) >= sizeof(a->size_tag))
		return false;
	for (size_t i = 0; i < c->nr; i++) {
		if (!size_get(c, i, tag, &c->sizes[nr]))
			continue;
		c->values[nr++] = c->needs[i].peak;
	}
	if (nr < LEAST_SIZED || !line_fit(&fit, c->sizes, c->values, nr))
		return false;
	if (a->has_size && fit.explained <= a->by_size.explained)
		return true;
	a->has_size = true;
	a->by_size = fit;
	a->nr_sized = nr;
	a->size_is_of_files = tag == OF_FILES;
	snprintf(a->size_tag, sizeof(a->size_tag), "%s", tag ? tag : "");
	return true;
}

/*
 * Returns whether the best of @tried sizes is more than chance: memory grows with it, and Fisher's
 * transformation of the correlation, about normal, exceeds the best of that many unrelated sizes.
 */
static bool size_is_evidence(const struct advice *a, size_t tried)
{
	const double z = atanh(sqrt(a->by_size.explained)) * sqrt((double)a->nr_sized - 3);

	return a->by_size.slope > 0 && a->by_size.explained >= EXPLAINS &&
	       (double)tried * erfc(z / M_SQRT2) / 2 < CHANCE;
}

/* Fits the memory to the size of the input: the tag @tag, or, if NULL, whatever explains most. */
static void size_find(struct advice *a, struct chosen *c, const char *tag)
{
	char key[SIZE_TAG_BYTES];
	size_t tried = 0;

	if (tag) {
		size_try(a, c, tag);
		return;
	}
	/* only tags that the newest run has */
	for (const char *t = c->runs[0]->tags; t && *t; t += strlen(t) + 1) {
		const size_t n = strcspn(t, "=");

		if (n >= sizeof(key))
			continue;
		memcpy(key, t, n);
		key[n] = '\0';
		tried += size_try(a, c, key);
	}
	tried += size_try(a, c, OF_FILES);
	a->has_size = a->has_size && size_is_evidence(a, tried);
}

/* Used and requested amounts, times wall time. */

struct sums {
	double used, held;
};

/* Adds a run. It counts as beyond its request if it needed more than @noise above it. */
static void use_add(struct use *u, struct sums *s, double needed, double requested, double noise,
		    double times)
{
	u->nr++;
	u->nr_beyond += needed > requested + noise;
	s->used += (needed < requested ? needed : requested) * times;
	s->held += requested * times;
}

static bool request_has_gpus(const struct run_request *r)
{
	return r && r->gpus_held > 0 && r->gpu_ns >= 0;
}

static void use_find(struct advice *a, const struct chosen *c)
{
	struct sums memory = { 0 }, cores = { 0 }, gpus = { 0 };

	for (size_t i = 0; i < c->nr; i++) {
		const struct run_request *r = c->requests[i];
		const struct need *n = &c->needs[i];

		if (r && r->memory_bytes > 0)
			use_add(&a->memory_use, &memory, n->peak, (double)r->memory_bytes, 0,
				n->time);
		if (r && r->milli_cores > 0)
			use_add(&a->cores_use, &cores,
				1000 * (double)c->runs[i]->cpu_ns / (double)c->runs[i]->wall_ns,
				(double)r->milli_cores, CORES_NOISE, n->time);
		if (request_has_gpus(r))
			use_add(&a->gpus_use, &gpus, (double)r->gpu_ns / NS / n->time,
				(double)r->gpus_held, 0, n->time);
	}
	a->memory_use.share = memory.held > 0 ? memory.used / memory.held : 0;
	a->cores_use.share = cores.held > 0 ? cores.used / cores.held : 0;
	a->gpus_use.share = gpus.held > 0 ? gpus.used / gpus.held : 0;
	a->gpus_use.nr_beyond = 0; /* a rounding error: no run uses more than it holds */
}

#define MIB (1ULL << 20)
#define MANY 20     /* with fewer runs, MARGIN_OF_FEW applies */
#define MARGIN 0.10 /* added to the largest of many runs */
#define MARGIN_OF_FEW 0.25
#define WALL_MARGIN 0.25
#define CERTAINTY 0.95
#define MINUTE_NS 60000000000ULL

typedef double (*value_get)(const struct stored_run *r);

static struct spread needs_spread(struct chosen *c, value_get get)
{
	for (size_t i = 0; i < c->nr; i++)
		c->values[i] = get(c->runs[i]);
	return chosen_spread(c, c->nr);
}

static double rss_of(const struct stored_run *r)
{
	return (double)r->rss_peak_bytes;
}

static struct spread memory_spread(struct chosen *c)
{
	for (size_t i = 0; i < c->nr; i++)
		c->values[i] = c->needs[i].peak;
	return chosen_spread(c, c->nr);
}

static double milli_cores_of(const struct stored_run *r)
{
	return 1000 * (double)r->cpu_ns / (double)r->wall_ns;
}

static double wall_of(const struct stored_run *r)
{
	return (double)r->wall_ns;
}

static uint64_t round_up(double value, uint64_t step)
{
	return (uint64_t)ceil(value / (double)step) * step;
}

static void written_find(struct advice *a, struct chosen *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->requests[i] && c->requests[i]->write_bytes >= 0)
			c->values[a->nr_written++] = (double)c->requests[i]->write_bytes;
	if (a->nr_written)
		a->written = chosen_spread(c, a->nr_written);
}

/* The most GPUs that a run used at one time is absent if it used none. */
static void gpus_find(struct advice *a, struct chosen *c)
{
	for (size_t i = 0; i < c->nr; i++) {
		const struct run_request *r = c->requests[i];

		if (!request_has_gpus(r))
			continue;
		c->values[a->nr_gpus++] = fmax((double)r->milli_gpus, 0);
		a->has_other_gpus |= r->has_other_gpus;
		/* each may have worked for a part of the time */
		if (r->milli_gpus > 0 && (uint64_t)r->gpus_held > a->gpus_request)
			a->gpus_request = (uint64_t)r->gpus_held;
	}
	if (a->nr_gpus)
		a->gpus = chosen_spread(c, a->nr_gpus);
	for (size_t i = 0; i < c->nr; i++)
		if (c->requests[i] && c->requests[i]->gpu_bytes > 0)
			c->values[a->nr_gpu_memory++] = (double)c->requests[i]->gpu_bytes;
	if (a->nr_gpu_memory)
		a->gpu_memory = chosen_spread(c, a->nr_gpu_memory);
}

static int allocations_find(struct advice *a, struct chosen *c)
{
	const struct node *node = a->node.capacity > 0 ? &a->node : NULL;
	struct needs n;
	size_t nr = 0;
	int err;

	for (size_t i = 0; i < c->nr; i++)
		if (!node || c->needs[i].peak <= node->capacity)
			c->needs[nr++] = c->needs[i];
	a->nr_too_large = c->nr - nr;
	err = nr ? needs_open(&n, c->needs, nr) : 0;
	if (err || !nr)
		return err;
	a->least_waste = needs_least_waste(&n, node);
	a->most_runs = node ? needs_most_runs(&n, node) : a->least_waste;
	needs_done(&n);
	return 0;
}

static void requests_make(struct advice *a)
{
	const double margin = a->nr < MANY ? MARGIN_OF_FEW : MARGIN;

	a->memory_request = round_up((double)a->memory.largest * (1 + margin), MIB);
	a->cores_request = (a->cores.p95 + 999 - CORES_NOISE) / 1000;
	if (!a->cores_request)
		a->cores_request = 1;
	a->wall_request = round_up((double)a->wall.largest * (1 + WALL_MARGIN), MINUTE_NS);
	if (a->nr_written)
		a->written_request = round_up((double)a->written.largest * (1 + margin), MIB);
	if (a->nr_gpu_memory)
		a->gpu_memory_request = round_up((double)a->gpu_memory.largest * (1 + margin), MIB);
	/* each of n + 1 runs from one distribution is equally likely to be the largest */
	a->beyond = 1 / (double)(a->nr + 1);
	/* the probability that all of n are below the quantile p is p ** n */
	a->covered = pow(1 - CERTAINTY, 1 / (double)a->nr);
}

int advice_make(struct advice *a, const struct stored_runs *runs, const struct advice_from *from)
{
	struct chosen c;
	int err;

	*a = (struct advice){ .node = from->node };
	err = chosen_open(&c, runs, from->requests, from->nr_requests, a);
	if (!err) {
		a->nr = c.nr;
		a->memory = memory_spread(&c);
		a->rss = needs_spread(&c, rss_of);
		a->cores = needs_spread(&c, milli_cores_of);
		a->wall = needs_spread(&c, wall_of);
		written_find(a, &c);
		gpus_find(a, &c);
		requests_make(a);
		size_find(a, &c, from->size_tag);
		use_find(a, &c);
		err = allocations_find(a, &c);
	}
	chosen_done(&c);
	return err;
}
