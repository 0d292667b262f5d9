// SPDX-License-Identifier: BSD-2-Clause
#include "model/cores.h"

static void begin_again(struct cores *c, uint64_t elapsed_ns)
{
	*c = (struct cores){ .at_ns = elapsed_ns, .from_ns = elapsed_ns };
}

bool cores_add(struct cores *c, const struct sample *s, uint64_t *milli)
{
	uint64_t took_ns = s->elapsed_ns - c->at_ns, since_ns = s->elapsed_ns - c->from_ns;

	if (s->elapsed_ns <= c->at_ns)
		return false;
	if (!sample_has(s, M_cores)) {
		begin_again(c, s->elapsed_ns);
		return false;
	}
	c->at_ns = s->elapsed_ns;
	c->busy += (double)s->value[M_cores] * (double)took_ns;
	if (since_ns >= SHORTEST_FOR_CORES) {
		*milli = took_ns == since_ns ? s->value[M_cores]
					     : (uint64_t)(c->busy / (double)since_ns);
		c->before_ns = c->from_ns;
		c->busy_before = c->busy;
		c->from_ns = s->elapsed_ns;
		c->busy = 0;
		c->has_before = true;
		return true;
	}
	if (c->has_before)
		*milli = (uint64_t)((c->busy_before + c->busy) /
				    (double)(s->elapsed_ns - c->before_ns));
	return c->has_before;
}
