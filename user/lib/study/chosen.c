// SPDX-License-Identifier: BSD-2-Clause
#include "study/chosen.h"

#include "study/stats.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS 1e9

void chosen_done(struct chosen *c)
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

/* Of a run of an older bpfmon its RSS. */
static double memory_needed(const struct stored_run *r, const struct run_request *told)
{
	return (double)(told && told->needed_bytes > 0 ? told->needed_bytes : r->rss_peak_bytes);
}

int chosen_open(struct chosen *c, const struct stored_runs *runs,
		const struct run_request *requests, size_t nr_requests, struct advice *a)
{
	const size_t room = runs->nr + 1;
	const char *first = NULL; /* the name of the first one */

	*c = (struct chosen){ 0 };
	c->runs = calloc(room, sizeof(*c->runs));
	c->requests = calloc(room, sizeof(*c->requests));
	c->values = calloc(room, sizeof(*c->values));
	c->sizes = calloc(room, sizeof(*c->sizes));
	c->needs = calloc(room, sizeof(*c->needs));
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

/* The smallest value that the share @of does not exceed. */
static uint64_t sorted_at(const double *sorted, size_t nr, double of)
{
	const double place = ceil(of * (double)nr);
	const size_t at = place < 1 ? 1 : (size_t)place;

	return (uint64_t)sorted[(at < nr ? at : nr) - 1];
}

struct spread chosen_spread(struct chosen *c, size_t nr)
{
	stats_sort(c->values, nr);
	return (struct spread){ sorted_at(c->values, nr, 0.5), sorted_at(c->values, nr, 0.95),
				sorted_at(c->values, nr, 0.99), sorted_at(c->values, nr, 1) };
}
