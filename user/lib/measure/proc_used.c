// SPDX-License-Identifier: BSD-2-Clause
#include "measure/proc_used.h"

#include <string.h>

#define USED_FIELDS (sizeof(struct proc_used) / sizeof(uint64_t))

void proc_used_add(struct proc_used *sum, const struct proc_used *part)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	for (size_t i = 0; i < USED_FIELDS; i++)
		to[i] += from[i];
}

void proc_used_subtract(struct proc_used *sum, const struct proc_used *part)
{
	uint64_t *to = (uint64_t *)sum;
	const uint64_t *from = (const uint64_t *)part;

	for (size_t i = 0; i < USED_FIELDS; i++)
		to[i] -= from[i];
}

struct proc_used proc_used_least(const struct proc_used *a, const struct proc_used *b)
{
	struct proc_used least = *a;
	uint64_t *to = (uint64_t *)&least;
	const uint64_t *other = (const uint64_t *)b;

	for (size_t i = 0; i < USED_FIELDS; i++)
		if (other[i] < to[i])
			to[i] = other[i];
	return least;
}

void proc_used_take(struct proc_used *u, const struct proc_used *part)
{
	const struct proc_used least = proc_used_least(u, part);

	proc_used_subtract(u, &least);
}

bool proc_used_is_zero(const struct proc_used *u)
{
	static const struct proc_used nothing;

	return !memcmp(u, &nothing, sizeof(nothing));
}

void counter_raise(__u64 *published, uint64_t now)
{
	if ((int64_t)now > 0 && now > *published)
		*published = now;
}

void proc_used_publish(const struct proc_used *u, struct account *a)
{
	counter_raise(&a->user, u->user_ns);
	counter_raise(&a->system, u->system_ns);
	counter_raise(&a->minflt, u->minflt);
	counter_raise(&a->majflt, u->majflt);
	counter_raise(&a->nvcsw, u->nvcsw);
	counter_raise(&a->nivcsw, u->nivcsw);
	counter_raise(&a->rchar, u->io.rchar);
	counter_raise(&a->wchar, u->io.wchar);
	counter_raise(&a->syscr, u->io.syscr);
	counter_raise(&a->syscw, u->io.syscw);
	counter_raise(&a->read, u->io.read_bytes);
	counter_raise(&a->write, u->io.write_bytes);
	counter_raise(&a->cancelled_write, u->io.cancelled_write_bytes);
	a->cpu = a->user + a->system;
}
