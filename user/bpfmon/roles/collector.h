/* SPDX-License-Identifier: BSD-2-Clause */
/* The role with privileges: tracks, samples and writes the stream. Opens no file of the user. */
#ifndef ROLES_COLLECTOR_H
#define ROLES_COLLECTOR_H

#include "base/loop.h"
#include "measure/optional.h"
#include "measure/tenant.h"

#include <stdbool.h>
#include <sys/types.h>

/* The source of what is recorded. */
enum collector_source {
	FROM_BPF,
	FROM_BPF_OR_PROC, /* /proc if the kernel refuses BPF */
	FROM_PROC,
	FROM_BPF_OR_NONE, /* nothing is recorded if the kernel refuses BPF */
};

/* Settings of the machine; those of a job come in its request. */
struct collector_options {
	int control_fd;              /* to the launcher */
	pid_t recorder;              /* its cost is reported with the run */
	bool verbose;                /* report on stderr why a program does not load */
	unsigned max_tasks;          /* entries of the maps; 0: the default */
	unsigned inject_misses;      /* per mille of events to ignore, for tests */
	unsigned inject_free_misses; /* per mille of last events of tasks to ignore, for tests */
	unsigned slow_pss_ms;        /* delay of each read of PSS, for tests */
	struct refusals refusals;
	enum collector_source source;
};

/*
 * Receives the request for a job and executes it to its end. Returns 0, or a negative errno that
 * has been reported to the launcher.
 */
int collector_run(const struct collector_options *o);

/* The parts of the collector: the books, one job with its client, and the event loop. */

enum loop_source_id { CONTROL, TICKS, RECORDS, LOOKS, BIRTHS, NR_SOURCES };

struct collector {
	const struct job_spec *spec; /* of the tenant */
	struct books books;
	struct tenant tenant;
	struct message message; /* being received */
	struct loop loop;
	struct loop_source sources[NR_SOURCES];
	struct patience with_recorder; /* limited once the launcher has ended */
};

/*
 * Waits for the launcher's request and applies it. Returns 0, or a negative errno with a sentence
 * without a full stop in @why.
 */
int collector_receive(struct collector *c, const struct collector_options *o, char *why,
		      size_t size);
/*
 * Waits for the description and the start message, whose time it stores in *@when_ns. Returns
 * false, after a warning, if they do not come.
 */
bool collector_wait_for_start(struct collector *c, uint64_t *when_ns);

#endif
