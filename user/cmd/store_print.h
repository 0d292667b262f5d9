/* SPDX-License-Identifier: BSD-2-Clause */
/* What `bpfmon store` prints of what it has found or done: text, or one object of JSON. */
#ifndef CMD_STORE_PRINT_H
#define CMD_STORE_PRINT_H

#include "cmd/print_format.h"
#include "store/merge_case.h"
#include "store/prune.h"

#include <stdbool.h>
#include <stdint.h>

/* @path, here and below: of the store. Without memory nothing is printed, which main() reports. */
void store_print_numbers(enum print_format as, const char *path, const struct store_size *size);
void store_print_pruned(enum print_format as, const char *path, const struct pruned *gone,
			bool dry_run);
/* @why: NULL if it is whole. @rows_left: how many belong to no run. */
void store_print_checked(enum print_format as, const char *path, const char *why,
			 int64_t rows_left);
void store_print_merged(enum print_format as, const char *path, const struct merged *m);

#endif
