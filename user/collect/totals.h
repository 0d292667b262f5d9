/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over accounts, such that no total ever falls and the parts of one agree. */
#ifndef COLLECT_TOTALS_H
#define COLLECT_TOTALS_H

#include "bpfmon/shared.h"

struct bpf_map;

/* The sum over all accounts in @map. -ENOENT: there is none. */
int totals_sum(const struct bpf_map *map, struct account *sum);

/* Where the programs have no lock, live tasks commit nothing: a drain finds it pending. */
struct unlocked_totals {
	struct account before;    /* committed when the last drain began */
	struct account published; /* at most so far */
};

/*
 * Sets what @now has of tasks to what had been committed before the drain and what that found
 * pending. A task freed in between is in neither: what was published once is not taken back.
 */
void totals_add_pending(struct unlocked_totals *u, const struct account *pending,
			struct account *now);

/*
 * The kernel goes on counting while an account is copied, field by field. What must agree is made
 * from one of its parts, each of which only grows.
 */
void totals_untear(struct account *a);

#endif
