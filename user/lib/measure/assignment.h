/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job as it was asked for: what the messages of its client, the request and the description of
 * the run, become. They are checked as input of unknown origin.
 */
#ifndef MEASURE_ASSIGNMENT_H
#define MEASURE_ASSIGNMENT_H

#include "base/message.h"
#include "measure/job_spec.h"
#include "run/description.h"
#include "run/request.h"

/* @spec points to the other members. */
struct assignment {
	struct job_spec spec;
	struct run run;
	bool is_described; /* its description has been received */
	struct described described;
	struct cgroup_target target; /* that is followed */
	struct cgroup cgroup;        /* the command's own */
	struct intake intake;
	pid_t pids[REQUEST_PROCESSES];
	struct limit limits[MAX_LIMITS];
};

/*
 * Takes the request and its descriptors: sockets are kept, processes and cgroup are looked up and
 * closed. @m is empty after it. 0; or a negative errno, and @why is a sentence without a full stop.
 * In both cases the caller calls assignment_done().
 */
int assignment_take_request(struct assignment *a, struct message *m, char *why, size_t size);
/* The same of a request that has been read: takes its sockets, and closes nothing. */
int assignment_take(struct assignment *a, struct request *r, char *why, size_t size);
/* Sets where the run can be listened to: the name of its socket for spans, if it has one. */
void assignment_name_socket(struct assignment *a);
/* Takes the description of the run. @m is empty after it. 0 or a negative errno, with @why. */
int assignment_take_description(struct assignment *a, struct message *m, char *why, size_t size);
void assignment_done(struct assignment *a);

#endif
