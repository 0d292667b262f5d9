/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * GPUs of NVIDIA, through the driver's library libnvidia-ml.so.1, which is loaded if it is there.
 * Not to be used in a process with rights that matter, or that must not wait: see gpu_reader.h.
 */
#ifndef MEASURE_NVML_H
#define MEASURE_NVML_H

#include "measure/gpu_table.h"

struct nvml;

/*
 * Loads the library and finds the devices. Returns 0; -ENOENT without the library; -ENODEV without
 * a driver or a device; or another negative errno. @why then has the reason, a clause without a
 * full stop.
 */
int nvml_open(struct nvml **n, char *why, size_t size);
/*
 * One pass at @now_ns (CLOCK_MONOTONIC) over what can be read at once: appends the devices and
 * their uses to @t, with the latest values of nvml_step(), and stores new ended processes. A device
 * that is lost keeps its place without values; @t->why has the reason.
 */
void nvml_pass(struct nvml *n, struct gpu_table *t, uint64_t now_ns);
/*
 * Reads one of the values that take long (energy 3 to 24 ms, utilization of processes 1.4 ms), if
 * one is due at @now_ns. Returns false if none is: then @next_ns is when the next one will be.
 */
bool nvml_step(struct nvml *n, uint64_t now_ns, uint64_t *next_ns);
void nvml_close(struct nvml *n);

#endif
