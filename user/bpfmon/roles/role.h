/* SPDX-License-Identifier: BSD-2-Clause */
/* The parts of the collector: the books, one job with its client, and the event loop. */
#ifndef ROLES_ROLE_H
#define ROLES_ROLE_H

#include "base/loop.h"
#include "bpfmon/roles/collector.h"
#include "measure/tenant.h"

enum source { CONTROL, TICKS, RECORDS, LOOKS, BIRTHS, NR_SOURCES };

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
/* Sends the summary to the launcher, in place of the recorder that is gone. */
int collector_send_summary(int control_fd, const struct summary *s);
/* Adds all sources except for the ticks to the loop. 0 or a negative errno. */
int collector_open_sources(struct collector *c);
/* Waits until the cgroup has its first process, or the launcher ends the run. */
void collector_wait_for_first(struct collector *c);
/* Takes samples, and handles events between them, until the run is over. */
void collector_watch(struct collector *c);

#endif
