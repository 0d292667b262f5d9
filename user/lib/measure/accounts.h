/* SPDX-License-Identifier: BSD-2-Clause */
/* The totals of all accounts, as the kernel has them. */
#ifndef MEASURE_ACCOUNTS_H
#define MEASURE_ACCOUNTS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;

struct accounts {
	struct account_key *keys; /* owned; in no order */
	struct account *totals;   /* owned; of the account at the same index */
	size_t nr, most;
	struct account_key *spare_keys; /* owned; what is being read */
	struct account *spare_totals;
};

/* Allocates room for @most accounts, as many as the kernel may hold. 0 or -ENOMEM. */
int accounts_init(struct accounts *a, size_t most);
void accounts_done(struct accounts *a);
/* Reads all accounts of @map. On a negative errno @a keeps what was read before. */
int accounts_read(struct accounts *a, const struct bpf_map *map);
/* Orders accounts by tree, then by cgroup, as strcmp(). */
int account_key_compare(const struct account_key *a, const struct account_key *b);
/* Adds @part to @sum, field by field. */
void account_add(struct account *sum, const struct account *part);
/* Takes @part from @a, whose fields do not fall below 0. */
void account_subtract(struct account *a, const struct account *part);
/*
 * The kernel goes on counting while an account is copied field by field. Fields that must agree are
 * computed from others, which only grow: cpu is the sum of its parts, processes are those born less
 * those gone.
 */
void account_untear(struct account *a);

#endif
