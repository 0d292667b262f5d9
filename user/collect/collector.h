/* SPDX-License-Identifier: BSD-2-Clause */
/* The role that needs privilege: follows, samples, writes the stream; opens no user's file. */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include <stdbool.h>
#include <sys/types.h>

/* What belongs to the machine and not to a job, which comes as a request. */
struct collector_options {
	int control_fd;         /* to the launcher */
	pid_t recorder;         /* its cost is that of the run, too */
	bool verbose;           /* report on stderr why a program does not load */
	unsigned max_tasks;     /* entries of the maps; 0: the default */
	unsigned inject_misses; /* thousandths of the events to ignore, for tests */
	unsigned refused;       /* bits of optional programs not to load, for tests */
	unsigned unattached;    /* and of those not to attach */
};

/*
 * Receives the request for a job and runs it to its end. 0, or a negative errno that the launcher
 * got a message of.
 */
int collector_run(const struct collector_options *o);

#endif
