/* SPDX-License-Identifier: BSD-2-Clause */
/* Turns the kernel's record of a process into the model's. */
#ifndef MEASURE_RECORD_H
#define MEASURE_RECORD_H

#include "bpfmon/shared.h"
#include "measure/images.h"
#include "run/process.h"
#include "run/summary.h"

#include <sys/types.h>

/* For rows of REST_METRIC. A call that is about to end is in either number alone for a moment. */
static inline uint64_t kinds_leave(uint64_t all, uint64_t files, uint64_t sockets, uint64_t pipes,
				   uint64_t other)
{
	const uint64_t part = files + sockets + pipes + other;

	return all > part ? all - part : 0;
}

/*
 * @row: the row of a live process from the last drain, or NULL. Strings in @p point into @images.
 */
void record_read(struct process *p, const struct process_record *r, const struct drain_row *row,
		 const struct images *images, const struct metric_set *usable,
		 uint64_t epoch_less_boot_ns);

/* Sets the counters of @r that are @usable, and puts them into @have. */
void record_read_counters(const struct process_record *r, const struct metric_set *usable,
			  uint64_t *value, struct metric_set *have);

/* What the kernel reports of a process that it has killed for lack of memory; @command: the process
 * that a run has executed, or 0. */
struct oom_kill oom_kill_read(const struct oom_event *e, pid_t command);

#endif
