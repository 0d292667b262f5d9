/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proc connector: the kernel reports each fork, exec and exit of the machine, to ordinary users
 * since Linux 6.6, in the initial user, PID and network namespaces only. An event is queued before
 * the call that caused it returns, so a birth comes before anything that the process does; only an
 * exit may arrive shortly after the process was reaped.
 */
#ifndef BASE_PROC_CONNECTOR_H
#define BASE_PROC_CONNECTOR_H

#include <linux/cn_proc.h>
#include <stddef.h>
#include <stdint.h>

struct proc_connector {
	int fd;            /* owned; -1 if closed */
	uint64_t nr, lost; /* events received, and a lower bound of lost ones */
	/* CLOCK_MONOTONIC here minus that of events, in a time namespace */
	int64_t clock_ahead_ns;
	uint32_t *next; /* owned; number of the next event by CPU */
	size_t nr_cpus;
	unsigned inject_misses; /* for tests: events to ignore, per thousand */
};

/* @time_ns is CLOCK_MONOTONIC. */
typedef void (*proc_connector_fn)(void *context, const struct proc_event *e, uint64_t time_ns);

/* Returns 0, or a negative errno with a clause in @why. */
int proc_connector_open(struct proc_connector *c, const char **why);
/* Closes the connection and stops the kernel from producing events for it. */
void proc_connector_close(struct proc_connector *c);
/* Ignores losses up to now. */
void proc_connector_restart(struct proc_connector *c);
/* Calls @fn for each queued event. Adds events that a full queue refused to @lost. */
void proc_connector_receive(struct proc_connector *c, proc_connector_fn fn, void *context);

#endif
