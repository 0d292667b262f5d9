// SPDX-License-Identifier: BSD-2-Clause
/* How much of what was requested was used. */
#include "study/chosen.h"

struct sums {
	double used, held;
};

/* What is @noise above a request is not beyond it. */
static void use_add(struct use *u, struct sums *s, double needed, double requested, double noise,
		    double times)
{
	u->nr++;
	u->nr_beyond += needed > requested + noise;
	s->used += (needed < requested ? needed : requested) * times;
	s->held += requested * times;
}

void use_find(struct advice *a, const struct chosen *c)
{
	struct sums memory = { 0 }, cores = { 0 };

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
	}
	a->memory_use.share = memory.held > 0 ? memory.used / memory.held : 0;
	a->cores_use.share = cores.held > 0 ? cores.used / cores.held : 0;
}
