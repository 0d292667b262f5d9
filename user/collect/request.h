/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the collector receives over its control socket: the request for a job, then the
 * description of its run and the start. All of it is checked as input of unknown origin.
 */
#ifndef COLLECT_REQUEST_H
#define COLLECT_REQUEST_H

#include "base/message.h"
#include "collect/collector.h"
#include "job/spec.h"
#include "model/summary.h"
#include "wire/description.h"
#include "wire/request.h"

/* A job as it was requested: @spec points to the other members. */
struct assignment {
	struct job_spec spec;
	struct run run;
	bool is_described; /* its description has been received */
	struct described described;
	struct cgroup_target target; /* that is followed */
	struct cgroup cgroup;        /* the command's own */
	struct intake intake;
	pid_t pids[REQUEST_PROCESSES];
	struct message message; /* the one that is being received */
};

/*
 * Waits for the request and takes its descriptors: sockets are kept, processes and cgroup are
 * looked up and closed. 0; or a negative errno, and @why is a sentence without a full stop. In both
 * cases the caller calls assignment_done().
 */
int assignment_receive(struct assignment *a, const struct collector_options *o, char *why,
		       size_t size);
/* Waits for the description and the start, *@when_ns. False: there is none, after a warning. */
bool assignment_wait_for_start(struct assignment *a, uint64_t *when_ns);
void assignment_done(struct assignment *a);

/* Sends the summary to the launcher, in place of the recorder that is gone. */
int collector_send_summary(int control_fd, const struct summary *s);

#endif
