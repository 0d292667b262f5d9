/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The proc connector: the kernel reports each fork, exec and exit of the machine, to ordinary users
 * since Linux 6.6, and only in the initial user, PID and network namespaces. An event is queued
 * before the call that caused it goes on, so a birth comes before all that the process does; only
 * an exit may come a little after the process was waited for.
 */
#ifndef BASE_PROC_CONNECTOR_H
#define BASE_PROC_CONNECTOR_H

#include <linux/cn_proc.h>
#include <stddef.h>
#include <stdint.h>

struct proc_connector {
	int fd;                 /* owned; -1: closed */
	uint64_t nr, lost;      /* events that came, and at least so many that did not */
	int64_t clock_ahead_ns; /* CLOCK_MONOTONIC here less that of events: a time namespace */
	uint32_t *next;         /* owned; by CPU, the number of its next event */
	size_t nr_cpus;
	unsigned inject_misses; /* thousandths of the events to ignore, for tests */
};

/* @time_ns: CLOCK_MONOTONIC. */
typedef void (*proc_connector_fn)(void *context, const struct proc_event *e, uint64_t time_ns);

/* 0; or a negative errno, and @why is a clause. */
int proc_connector_open(struct proc_connector *c, const char **why);
/* Closes it, and ends the kernel's work for it. */
void proc_connector_close(struct proc_connector *c);
/* What was lost so far is not noticed later. */
void proc_connector_restart(struct proc_connector *c);
/* Calls @fn for each event in the queue. Events that a full queue refused are added to @lost. */
void proc_connector_receive(struct proc_connector *c, proc_connector_fn fn, void *context);

#endif
