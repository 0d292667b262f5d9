// SPDX-License-Identifier: BSD-2-Clause
#include "top/usage.h"

enum metric_id measure_metric(enum measure m)
{
	static const enum metric_id metrics[NR_MEASURES] = {
		[MEASURE_CPU] = M_cpu,         [MEASURE_USER] = M_user,
		[MEASURE_SYSTEM] = M_system,   [MEASURE_RUNQUEUE] = M_runqueue_wait,
		[MEASURE_MINFLT] = M_minflt,   [MEASURE_MAJFLT] = M_majflt,
		[MEASURE_NVCSW] = M_nvcsw,     [MEASURE_NIVCSW] = M_nivcsw,
		[MEASURE_RCHAR] = M_rchar,     [MEASURE_WCHAR] = M_wchar,
		[MEASURE_READ] = M_read,       [MEASURE_WRITE] = M_write,
		[MEASURE_RSS] = M_rss,         [MEASURE_SWAP] = M_swap,
		[MEASURE_THREADS] = M_threads,
	};

	return metrics[m];
}

void usage_take(struct usage *u, const uint64_t *value, const struct metric_set *have)
{
	*u = (struct usage){ 0 };
	for (int m = 0; m < NR_MEASURES; m++) {
		enum metric_id id = measure_metric((enum measure)m);

		if (!metric_has(have, id))
			continue;
		u->value[m] = value[id];
		u->have |= 1U << m;
	}
}

static void usage_add_some(struct usage *to, const struct usage *u, int nr)
{
	for (int m = 0; m < nr; m++)
		to->value[m] += u->value[m];
	to->have |= u->have & ((1U << nr) - 1);
}

void usage_add(struct usage *to, const struct usage *u)
{
	usage_add_some(to, u, NR_MEASURES);
}

void usage_add_counters(struct usage *to, const struct usage *u)
{
	usage_add_some(to, u, MEASURE_FIRST_GAUGE);
}

void usage_add_growth(struct usage *to, const struct usage *later, const struct usage *earlier)
{
	for (int m = 0; m < MEASURE_FIRST_GAUGE; m++)
		if (later->value[m] > earlier->value[m])
			to->value[m] += later->value[m] - earlier->value[m];
	to->have |= later->have & ((1U << MEASURE_FIRST_GAUGE) - 1);
}
