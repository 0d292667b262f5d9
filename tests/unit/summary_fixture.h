/* SPDX-License-Identifier: BSD-2-Clause */
/* Samples and processes of which one value matters. */
#ifndef TESTS_UNIT_SUMMARY_FIXTURE_H
#define TESTS_UNIT_SUMMARY_FIXTURE_H

#include "fixture.h"

#define SECOND_NS 1000000000ULL

static inline void add_sample(struct summary *s, uint64_t elapsed_ns, enum metric_id id,
			      uint64_t value)
{
	struct sample smp = { .elapsed_ns = elapsed_ns };

	sample_set(&smp, id, value);
	summary_add_sample(s, &smp);
}

static inline void add_process(struct summary *s, const char *exe, uint64_t cpu_ns,
			       uint64_t peak_bytes)
{
	struct process p = { .exe = exe, .rss_peak_bytes = peak_bytes, .has_rss_peak = peak_bytes };

	p.value[M_cpu] = cpu_ns;
	metric_put(&p.have, M_cpu);
	assert_int_equal(summary_add_process(s, &p), 0);
}

#endif
