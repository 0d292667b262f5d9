// SPDX-License-Identifier: BSD-2-Clause
#include "run/cores.h"

#include "base/number.h"

#include <math.h>

static void cores_restart(struct cores *c, uint64_t elapsed_ns)
{
	*c = (struct cores){
		.cpus = c->cpus,
		.at_ns = elapsed_ns,
		.from_ns = elapsed_ns,
		.cpu_ns = c->cpu_ns,
	};
}

/* Thousandths of a core, times ns. */
static double cores_busy_since(const struct cores *c, const struct sample *s)
{
	if (sample_has(s, M_cpu) && s->value[M_cpu] >= c->cpu_ns)
		return (double)(s->value[M_cpu] - c->cpu_ns) * 1000;
	return (double)s->value[M_cores] * (double)(s->elapsed_ns - c->at_ns);
}

static uint64_t cores_bound(const struct cores *c, uint64_t milli)
{
	return c->cpus && milli > c->cpus * 1000ULL ? c->cpus * 1000ULL : milli;
}

bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli)
{
	uint64_t took_ns = s->elapsed_ns - c->at_ns, since_ns = s->elapsed_ns - c->from_ns;

	if (s->elapsed_ns <= c->at_ns)
		return false;
	c->busy += cores_busy_since(c, s);
	c->cpu_ns = s->value[M_cpu];
	if (!sample_has(s, M_cores)) {
		cores_restart(c, s->elapsed_ns);
		return false;
	}
	c->at_ns = s->elapsed_ns;
	if (since_ns >= SHORTEST_FOR_CORES) {
		*milli = cores_bound(c, took_ns == since_ns
						? s->value[M_cores]
						: number_clamp(floor(c->busy / (double)since_ns)));
		c->before_ns = c->from_ns;
		c->busy_before = c->busy;
		c->from_ns = s->elapsed_ns;
		c->busy = 0;
		c->has_before = true;
		return true;
	}
	if (c->has_before)
		*milli =
			cores_bound(c, number_clamp(floor((c->busy_before + c->busy) /
							  (double)(s->elapsed_ns - c->before_ns))));
	return c->has_before;
}

bool cores_read(struct cores *c, uint64_t elapsed_ns, uint64_t cpu_ns, uint64_t *milli)
{
	struct sample raw = { .elapsed_ns = elapsed_ns };
	uint64_t used_ns = cpu_ns > c->cpu_ns ? cpu_ns - c->cpu_ns : 0;

	if (elapsed_ns <= c->at_ns)
		return false;
	sample_set(&raw, M_cpu, cpu_ns);
	sample_set(&raw, M_cores, used_ns * 1000 / (elapsed_ns - c->at_ns));
	if (!cores_add(c, &raw, milli))
		*milli = cores_bound(c, raw.value[M_cores]);
	return true;
}
