/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What this machine supports. Decided by kernel fields, hooks and helpers, never by kernel version.
 */
#ifndef MEASURE_CAPABILITY_H
#define MEASURE_CAPABILITY_H

#include "run/metric.h"

#include <stdbool.h>
#include <stddef.h>

struct optionals;

/*
 * Checks the requirements without which nothing works. Returns 0, or a negative errno with one
 * sentence in @why.
 */
int capability_core(char *why, size_t size);
/*
 * Sets @usable to the metrics of @wanted that this kernel has. @task_fields has a bit for each
 * TASK_METRIC whose kernel field exists. For the other metrics unusable[id] is the reason: not
 * owned, and some of it is in @programs.
 */
void capability_metrics(const struct metric_set *wanted, uint64_t task_fields,
			const struct optionals *programs, struct metric_set *usable,
			const char *unusable[NR_METRICS]);
/*
 * Returns why the hardware that metrics of @source need is missing or may not be read, a clause;
 * NULL if it is there, or if they need none.
 */
const char *capability_why_no_hardware(enum metric_source source);
#define CAPABILITY_DELAYS_SWITCH "sysctl kernel.task_delayacct is 0"
/* The reason in @unusable for delays that a sysctl switches off. */
extern const char capability_delays_off[];
/* The next three functions load the kernel's BTF, which takes about 20 ms. */
bool capability_has_tracepoint(const char *name);
/* Returns the cgroup_subsys_id of @controller (for example "memory"), or -ENOENT. */
int capability_cgroup_subsys(const char *controller);
/* Calls @fn for each requirement. If @available is false, @why is the reason and advice. */
void capability_each(void (*fn)(void *context, const char *name, bool available, const char *why),
		     void *context);

/*
 * Checks for CAP_BPF and CAP_PERFMON, or CAP_SYS_ADMIN, in the initial user namespace. Returns 0,
 * or -EPERM with advice in @why. @proc is "/proc".
 */
int permission_check(const char *proc, char *why, size_t size);
/*
 * Returns why bpf(2) may fail with EPERM in spite of the capabilities, or NULL if no cause is
 * found.
 */
const char *permission_hint(const char *proc);

#endif
