// SPDX-License-Identifier: BSD-2-Clause
/* The order of the runs of a benchmark. */
#include "study/plan.h"

/* splitmix64 (Steele, Lea, Flood 2014): the same numbers on every machine. */
static uint64_t number_draw(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* 0 to @below - 1, each as likely: what lies above the last multiple is drawn again. */
static size_t number_draw_below(uint64_t *state, size_t below)
{
	const uint64_t most = UINT64_MAX - UINT64_MAX % below;
	uint64_t drawn;

	do
		drawn = number_draw(state);
	while (drawn >= most);
	return (size_t)(drawn % below);
}

void bench_plan_order(const struct bench_plan *p, size_t round, size_t *order)
{
	uint64_t state = p->seed;

	state = number_draw(&state) + round; /* each round has numbers of its own */
	for (size_t i = 0; i < p->nr; i++)
		order[i] = i;
	for (size_t left = p->nr; left > 1; left--) {
		size_t at = number_draw_below(&state, left), was = order[left - 1];

		order[left - 1] = order[at];
		order[at] = was;
	}
}

void bench_plan_turn(const struct bench_plan *p, size_t i, size_t *order, struct bench_turn *t)
{
	const size_t rounds = p->warmups + p->runs;
	size_t round = p->is_sequential ? i % rounds : i / p->nr;

	if (!p->is_sequential && i % p->nr == 0)
		bench_plan_order(p, round, order);
	*t = (struct bench_turn){
		.of = p->is_sequential ? i / rounds : order[i % p->nr],
		.is_warmup = round < p->warmups,
		.is_first = !round,
		.is_last = round + 1 == rounds,
	};
	t->round = (t->is_warmup ? round : round - p->warmups) + 1;
}
