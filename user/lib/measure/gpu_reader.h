/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads GPUs in a process of its own, which loads the driver's library: a driver that hangs delays
 * no sample and no end, one that crashes takes nothing with it, and the library has no maps,
 * sockets or capabilities of the collector. It keeps the user, and, only where there are devices of
 * DRM, CAP_SYS_PTRACE and CAP_DAC_READ_SEARCH. Results come through shared memory, without a system
 * call.
 */
#ifndef MEASURE_GPU_READER_H
#define MEASURE_GPU_READER_H

#include "measure/gpu_table.h"

#include <sys/types.h>

#define GPU_READER_PIDS 65536 /* whose descriptors are looked at; further ones are left out */

struct gpu_reader;

/* Returns NULL if this machine has a GPU that may be read, else why not: a clause. */
const char *gpus_why_missing(void);
/*
 * Returns why the PIDs that NVIDIA's driver tells are not those of this process's /proc, a clause;
 * NULL if they are. BPF programs see the same PIDs as the driver.
 */
const char *gpus_why_foreign(void);
/*
 * Starts the process, which makes a pass over all GPUs every @interval_ns, within 0.1 to 1 s. Call
 * it before the process has threads, and before it gives up rights. Returns 0 or a negative errno.
 */
int gpu_reader_start(struct gpu_reader **reader, uint64_t interval_ns);
/*
 * Copies the last pass to @table if it is another than that in @table. Returns true if it did.
 * Never waits.
 */
bool gpu_reader_take(struct gpu_reader *r, struct gpu_table *table);
/* Tells the reader which processes' descriptors to look at from its next pass on. */
void gpu_reader_set_pids(struct gpu_reader *r, const uint32_t *pids, size_t nr);
/* Returns true if the process has ended, as if its library crashed. */
bool gpu_reader_is_gone(const struct gpu_reader *r);
/* Asks for a pass now. */
void gpu_reader_ask(struct gpu_reader *r);
pid_t gpu_reader_pid(const struct gpu_reader *r);
/* Lets the process end, without waiting for it, and frees @r, which may be NULL. */
void gpu_reader_leave(struct gpu_reader *r);

#endif
