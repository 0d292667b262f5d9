/* SPDX-License-Identifier: BSD-2-Clause */
/* Sums over accounts, such that no total ever falls and the parts of one agree. */
#ifndef TRACK_TOTALS_H
#define TRACK_TOTALS_H

#include "bpfmon/shared.h"

struct bpf_map;

/* The sum over all accounts in @map: nothing, as long as no process has been met. */
void totals_sum(const struct bpf_map *map, struct account *sum);

/*
 * The kernel goes on counting while an account is copied, field by field. What must agree is made
 * from one of its parts, each of which only grows.
 */
void totals_untear(struct account *a);

#endif
