// SPDX-License-Identifier: BSD-2-Clause
#include "study/advice.h"

#include "study/chosen.h"

#include <math.h>

#define MIB (1ULL << 20)
#define MANY 20     /* runs, from which on less is added to the largest */
#define MARGIN 0.10 /* added to the largest of many */
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

/* Of the runs of which it is known. */
static void written_find(struct advice *a, struct chosen *c)
{
	for (size_t i = 0; i < c->nr; i++)
		if (c->requests[i] && c->requests[i]->write_bytes >= 0)
			c->values[a->nr_written++] = (double)c->requests[i]->write_bytes;
	if (a->nr_written)
		a->written = chosen_spread(c, a->nr_written);
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
	/* of n + 1 runs that come from the same distribution each is as likely the largest */
	a->beyond = 1 / (double)(a->nr + 1);
	/* all of n are below what a share p of all runs is below with the probability p ** n */
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
		requests_make(a);
		size_find(a, &c, from->size_tag);
		use_find(a, &c);
		err = allocations_find(a, &c);
	}
	chosen_done(&c);
	return err;
}
