/* SPDX-License-Identifier: BSD-2-Clause */
/* The role with privileges: follows, samples, writes the stream; opens no file of the user. */
#ifndef ROLES_COLLECTOR_H
#define ROLES_COLLECTOR_H

#include "base/loop.h"
#include "measure/optional.h"
#include "measure/tenant.h"

#include <stdbool.h>
#include <sys/types.h>

/* Where what is recorded comes from. */
enum collector_source {
	FROM_BPF,
	FROM_BPF_OR_PROC, /* the latter if the kernel refuses the former */
	FROM_PROC,
};

/* What is set for the machine, not for a job: that comes as a request. */
struct collector_options {
	int control_fd;              /* to the launcher */
	pid_t recorder;              /* its cost is reported with the run */
	bool verbose;                /* report on stderr why a program does not load */
	unsigned max_tasks;          /* entries of the maps; 0: the default */
	unsigned inject_misses;      /* thousandths of the events to ignore, for tests */
	unsigned inject_free_misses; /* the same, of the last event of a task */
	unsigned slow_pss_ms;        /* that each read of PSS takes longer, for tests */
	struct refusals refusals;
	enum collector_source source;
};

/*
 * Receives the request for a job and runs it to its end. 0, or a negative errno, which has been
 * reported to the launcher.
 */
int collector_run(const struct collector_options *o);

/* The parts of the collector: the books, one job with its client, and the event loop. */

enum loop_source_id { CONTROL, TICKS, RECORDS, LOOKS, BIRTHS, NR_SOURCES };

struct collector {
	const struct job_spec *spec; /* of the tenant */
	struct books books;
	struct tenant tenant;
	struct message message; /* the one that is being received */
	struct loop loop;
	struct loop_source sources[NR_SOURCES];
	struct patience with_recorder; /* limited once the launcher has ended */
};

/*
 * Waits for the request of the launcher and takes it. 0; or a negative errno, and @why is a
 * sentence without a full stop.
 */
int collector_receive(struct collector *c, const struct collector_options *o, char *why,
		      size_t size);
/* Waits for the description and the start, *@when_ns. False: there is none, after a warning. */
bool collector_wait_for_start(struct collector *c, uint64_t *when_ns);

#endif
