/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts the command and the two roles, stands in for the command, and ends as it ends. */
#ifndef ROLES_LAUNCHER_H
#define ROLES_LAUNCHER_H

#include "base/cgroup.h"
#include "base/user.h"
#include "bpfmon/roles/collector.h"
#include "bpfmon/roles/intake.h"
#include "bpfmon/roles/limit_end.h"
#include "bpfmon/roles/recorder.h"
#include "run/request.h"
#include "run/run.h"

/* How a command has ended. */
struct launch_outcome {
	bool has_ended; /* it has run, and: */
	int status;     /* as wait(2) gives it */
};

struct launch_options {
	char *const *argv;
	const int *streams;             /* the command's 0 to 2; NULL: bpfmon's own */
	struct launch_outcome *outcome; /* filled in; NULL: not needed */
	const struct user *run_as;      /* the command's user; NULL: bpfmon's */
	const struct user *record_as;   /* the recorder's; NULL: bpfmon's */
	const struct user *caller;      /* the user who called sudo; NULL: no sudo */
	struct intake_options push;     /* what programs may push */
	bool own_cgroup;                /* the command gets one, which is removed at the end */
	int cgroup_keeper_fd;           /* filled in with that; what has it delays the removal */
	struct intake_sockets *intake;  /* filled in; NULL: there are none */
	const struct cgroup *cgroup;    /* filled in with the command's own; NULL: it has none */
	const struct cgroup_target *target; /* attached to; or: */
	const pid_t *targets;               /* processes */
	size_t nr_targets;
	const char *target_job;  /* or a job of the node, which its agent knows */
	bool is_bare;            /* nothing is measured */
	int agent_fd;            /* connected to it, owned; -1: without one */
	uint64_t limit_grace_ns; /* from SIGTERM to SIGKILL, beyond a limit */
	/* of request.limits; NULL: no file sets any */
	const struct limit_origin *limit_origins;
	struct run *run;                    /* what its caller knows of it; the rest is filled in */
	struct request request;             /* for the collector; descriptors are filled in */
	struct collector_options collector; /* descriptors and pids are filled in, in both */
	struct recorder_options recorder;
};

/* Runs it all. Returns the exit status; ends by the command's signal when it was killed by one. */
int launcher_run(struct launch_options *o);

#endif
