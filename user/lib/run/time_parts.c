// SPDX-License-Identifier: BSD-2-Clause
#include "run/time_parts.h"

#include <string.h>

static uint64_t time_max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t total_get(const struct sample *total, enum metric_id id)
{
	return sample_has(total, id) ? total->value[id] : 0;
}

/* Moves up to @ns from the part @from to memory. Returns the remainder. */
static uint64_t memory_take(struct time_parts *t, enum time_part from, uint64_t ns)
{
	uint64_t taken = ns < t->ns[from] ? ns : t->ns[from];

	t->ns[from] -= taken;
	t->ns[TIME_MEMORY] += taken;
	return ns - taken;
}

/* Moves memory delays out of other parts: waiting mostly from disk, work mostly from system. */
static void time_parts_put_memory(struct time_parts *t, const struct sample *s)
{
	uint64_t waited = time_max(total_get(s, M_swapin_delay), total_get(s, M_thrashing_delay));
	uint64_t worked = time_max(total_get(s, M_cow_delay),
				   total_get(s, M_reclaim_delay) + total_get(s, M_compact_delay));

	waited = memory_take(t, t->has[TIME_DISK] ? TIME_DISK : TIME_OTHER, waited);
	worked = memory_take(t, TIME_SYSTEM, waited + worked);
	memory_take(t, TIME_OTHER, worked);
}

bool time_parts_of(struct time_parts *t, const struct sample *total)
{
	static const struct {
		enum time_part part;
		enum metric_id id;
	} whole[] = {
		{ TIME_USER, M_user },
		{ TIME_SYSTEM, M_system },
		{ TIME_QUEUE, M_runqueue_wait },
		{ TIME_DISK, M_blkio_delay },
		{ TIME_INTERRUPTS, M_irq_delay },
	};
	uint64_t known = 0, lived = total_get(total, M_lifetime);

	*t = (struct time_parts){ 0 };
	if (!lived || !sample_has(total, M_user) || !sample_has(total, M_system))
		return false;
	t->has[TIME_MEMORY] = sample_has(total, M_reclaim_delay);
	t->has[TIME_OTHER] = true;
	for (int i = 0; i < (int)(sizeof(whole) / sizeof(*whole)); i++) {
		t->has[whole[i].part] = sample_has(total, whole[i].id);
		t->ns[whole[i].part] = total_get(total, whole[i].id);
		known += t->ns[whole[i].part];
	}
	/* usage of a thread after its exit is in its counters but not in its lifetime */
	t->total_ns = time_max(lived, known);
	t->ns[TIME_OTHER] = t->total_ns - known;
	time_parts_put_memory(t, total);
	return true;
}

void time_parts_divide(const struct time_parts *t, unsigned whole, unsigned share[NR_TIME_PARTS])
{
	double rest[NR_TIME_PARTS];
	unsigned left = whole;

	for (int i = 0; i < NR_TIME_PARTS; i++) {
		double exact = (double)t->ns[i] / (double)t->total_ns * whole;

		share[i] = (unsigned)exact;
		rest[i] = exact - share[i];
		left -= share[i];
	}
	while (left--) { /* to the parts that lost most by rounding */
		int most = 0;

		for (int i = 1; i < NR_TIME_PARTS; i++)
			if (rest[i] > rest[most])
				most = i;
		share[most]++;
		rest[most] = -1;
	}
}

const char *time_part_name(const struct time_parts *t, enum time_part part)
{
	static const char *const names[NR_TIME_PARTS] = {
		[TIME_USER] = "user",   [TIME_SYSTEM] = "system", [TIME_QUEUE] = "run queue",
		[TIME_DISK] = "disk",   [TIME_MEMORY] = "memory", [TIME_INTERRUPTS] = "interrupts",
		[TIME_OTHER] = "other",
	};

	return part == TIME_OTHER && !t->has[TIME_DISK] ? "not running" : names[part];
}
