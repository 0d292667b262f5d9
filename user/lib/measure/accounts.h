/* SPDX-License-Identifier: BSD-2-Clause */
/* The totals of all accounts, read from their kernel map. */
#ifndef MEASURE_ACCOUNTS_H
#define MEASURE_ACCOUNTS_H

#include "bpfmon/shared.h"

#include <stdbool.h>
#include <stddef.h>

struct bpf_map;

struct accounts {
	struct account_key *keys; /* owned; unordered */
	struct account *totals;   /* owned; totals[i] belongs to keys[i] */
	size_t nr, most;
	/* owned; accounts_read() fills the spare arrays, then swaps */
	struct account_key *spare_keys;
	struct account *spare_totals;
};

/* Allocates room for @most accounts, the capacity of the kernel map. Returns 0 or -ENOMEM. */
int accounts_init(struct accounts *a, size_t most);
void accounts_done(struct accounts *a);
/* Reads all accounts of @map. On error, returns a negative errno and keeps the previous totals. */
int accounts_read(struct accounts *a, const struct bpf_map *map);
/* Orders accounts by tree, then by cgroup; returns as strcmp(). */
int account_key_compare(const struct account_key *a, const struct account_key *b);
void account_add(struct account *sum, const struct account *part);
/* Subtracts @part from @a field by field. A field that would become negative becomes 0. */
void account_subtract(struct account *a, const struct account *part);
/*
 * Makes the fields of @a consistent: the kernel goes on counting while an account is copied.
 * Derived fields are computed from those that only grow: cpu is user + system, processes are births
 * less exits and moves.
 */
void account_make_consistent(struct account *a);

#endif
