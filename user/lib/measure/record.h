/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the kernel's record of a process to struct process. */
#ifndef MEASURE_RECORD_H
#define MEASURE_RECORD_H

#include "bpfmon/shared.h"
#include "measure/gpus.h"
#include "measure/images.h"
#include "run/process.h"
#include "run/summary.h"

#include <sys/types.h>

/*
 * For REST_METRIC rows. While a call ends, one of the numbers may already include it: no result
 * below 0.
 */
static inline uint64_t kinds_remainder(uint64_t all, uint64_t files, uint64_t sockets,
				       uint64_t pipes, uint64_t other)
{
	const uint64_t part = files + sockets + pipes + other;

	return all > part ? all - part : 0;
}

/*
 * Fills @p. @row is the row of a live process from the last drain, or NULL. Strings in @p point
 * into @images.
 */
void record_read(struct process *p, const struct process_record *r, const struct drain_row *row,
		 const struct images *images, const struct metric_set *usable,
		 uint64_t epoch_less_boot_ns);

/* Sets the counters of @r that are @usable and adds them to @have. */
void record_read_counters(const struct process_record *r, const struct metric_set *usable,
			  uint64_t *value, struct metric_set *have);

/* Adds the usable metrics of GPUs that the process has used. @used is NULL if it used none. */
void record_add_gpus(struct process *p, const struct gpu_used *used,
		     const struct metric_set *usable);

/* Converts an OOM kill event. @command is the PID of the run's command, or 0. */
struct oom_kill oom_kill_read(const struct oom_event *e, pid_t command);

#endif
