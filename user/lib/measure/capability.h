/* SPDX-License-Identifier: BSD-2-Clause */
/* What this machine offers: found by field, hook and helper, never by kernel version. */
#ifndef MEASURE_CAPABILITY_H
#define MEASURE_CAPABILITY_H

#include "run/metric.h"

#include <stdbool.h>
#include <stddef.h>

struct optionals;

/* Whether the core can work at all: 0, or a negative errno and one clear sentence in @why. */
int capability_core(char *why, size_t size);
/*
 * Sets @usable to those of @wanted that this kernel has, where @task_fields has a bit for each
 * TASK_METRIC with a field that exists, and @programs counts some; for the others @unusable[id]
 * says why not (not owned; some of it in @programs).
 */
void capability_metrics(const struct metric_set *wanted, uint64_t task_fields,
			const struct optionals *programs, struct metric_set *usable,
			const char *unusable[NR_METRICS]);
/* Why @unusable has a delay that the kernel would keep, were it told to. */
extern const char capability_delays_off[];
/* The following load the kernel's types, which takes some 20 ms. */
bool capability_has_tracepoint(const char *name);
/* The kernel's number of @controller ("memory"), an index into a task's
 * cgroups; or -ENOENT.
 */
int capability_cgroup_subsys(const char *controller);
/* Calls @fn for each requirement: its name, whether it is met, why not and
 * what to do. */
void capability_each(void (*fn)(void *context, const char *name, bool available, const char *why),
		     void *context);

/* Whether bpfmon has the capabilities it needs, and how a container may deny them. */

/* 0: CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, of the machine. -EPERM: @why says what to do. */
int permission_check(const char *proc, char *why, size_t size);
/* What may cause an EPERM of bpf(2) in spite of the capabilities; NULL: nothing is known. */
const char *permission_hint(const char *proc);

#endif
