/* SPDX-License-Identifier: BSD-2-Clause */
/* The memory that a tree holds: sums over its address spaces. */
#ifndef MEASURE_JOB_MEMORY_H
#define MEASURE_JOB_MEMORY_H

#include "measure/task_rows.h"
#include "run/sample.h"

/*
 * Sets the usable memory metrics of @smp to the sums over @rows; an address space that processes
 * share counts once. @rows are sorted by address space.
 */
void memory_sum(const struct drain_row *const *rows, size_t nr_rows,
		const struct metric_set *usable, struct sample *smp);

#endif
