// SPDX-License-Identifier: BSD-2-Clause
#include "study/runner.h"

#include <errno.h>
#include <stdlib.h>

struct runner {
	const struct bench_plan *p;
	const struct bench_ops *ops;
	void *context;
	bool *is_set_up; /* of each case, and not cleaned up yet */
};

static int runner_step(const struct runner *r, const struct bench_case *c, enum bench_step step)
{
	return c->steps[step] ? r->ops->step(r->context, c, step) : 0;
}

static int case_set_up(const struct runner *r, size_t i)
{
	r->is_set_up[i] = true; /* also where it fails halfway */
	return runner_step(r, &r->p->cases[i], BENCH_SETUP);
}

static int case_clean_up(const struct runner *r, size_t i)
{
	if (!r->is_set_up[i])
		return 0;
	r->is_set_up[i] = false;
	return runner_step(r, &r->p->cases[i], BENCH_CLEANUP);
}

static int turn_execute(const struct runner *r, const struct bench_turn *t)
{
	const struct bench_case *c = &r->p->cases[t->of];
	const bool is_alone = r->p->is_sequential;
	int err = is_alone && t->is_first ? case_set_up(r, t->of) : 0;

	if (!err)
		err = runner_step(r, c, BENCH_PREPARE);
	if (!err)
		err = r->ops->run(r->context, c, t);
	if (!err)
		err = runner_step(r, c, BENCH_CONCLUDE);
	if (!err && is_alone && t->is_last)
		err = case_clean_up(r, t->of);
	return err;
}

int bench_run(const struct bench_plan *p, const struct bench_ops *ops, void *context)
{
	struct runner r = { .p = p, .ops = ops, .context = context };
	size_t *order = calloc(p->nr + 1, sizeof(*order));
	struct bench_turn t;
	int err;

	r.is_set_up = calloc(p->nr + 1, sizeof(*r.is_set_up));
	err = order && r.is_set_up ? 0 : -ENOMEM;
	for (size_t i = 0; !err && !p->is_sequential && i < p->nr; i++)
		err = case_set_up(&r, i);
	for (size_t i = 0; !err && i < (p->runs + p->warmups) * p->nr; i++) {
		bench_plan_turn(p, i, order, &t);
		err = turn_execute(&r, &t);
	}
	for (size_t i = 0; r.is_set_up && i < p->nr; i++) {
		int last = case_clean_up(&r, i);

		err = err ? err : last;
	}
	free(r.is_set_up);
	free(order);
	return err;
}
