/* SPDX-License-Identifier: BSD-2-Clause */
/* Goes through the plan of a benchmark: its steps and runs, one after another. */
#ifndef STUDY_RUNNER_H
#define STUDY_RUNNER_H

#include "study/plan.h"

/* What executes. Each returns 0, or a negative errno that ends it all. */
struct bench_ops {
	int (*step)(void *context, const struct bench_case *c, enum bench_step step);
	int (*run)(void *context, const struct bench_case *c, const struct bench_turn *t);
};

/*
 * Executes all turns of @p, with the steps around them. What has been set up is cleaned up also
 * when something fails. Returns what failed first; -ENOMEM.
 */
int bench_run(const struct bench_plan *p, const struct bench_ops *ops, void *context);

#endif
