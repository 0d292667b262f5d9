/* SPDX-License-Identifier: BSD-2-Clause */
/* What a tree holds: sums over its address spaces. */
#ifndef JOB_MEMORY_H
#define JOB_MEMORY_H

#include "track/rows.h"
#include "model/sample.h"

/*
 * Sets the usable memory metrics of @smp to the sums over @rows, each address space once, whoever
 * shares it. Sorts @rows by address space.
 */
void memory_sum(struct drain_row *rows, size_t nr_rows, const struct metric_set *usable,
		struct sample *smp);

#endif
