/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts the command and the two roles, stands in for the command, and ends as it ends. */
#ifndef LAUNCH_LAUNCHER_H
#define LAUNCH_LAUNCHER_H

#include "collect/collector.h"
#include "launch/intake.h"
#include "base/user.h"
#include "record/recorder.h"

struct launch_options {
	char *const *argv;
	const struct user *run_as;     /* the command's user; NULL: ours */
	const struct user *record_as;  /* the recorder's; NULL: ours */
	const struct user *caller;     /* who called sudo; NULL: ours */
	struct intake_options push;    /* what programs may push */
	bool own_cgroup;               /* the command gets one, which is removed at the end */
	int cgroup_keeper_fd;          /* filled in with that; what has it delays the removal */
	struct intake_sockets *intake; /* filled in; NULL: there are none */
	struct job_spec collector;     /* descriptors and pids are filled in */
	struct recorder_options recorder;
};

/* Runs it all. Returns the exit status; ends by the command's signal when it was killed by one. */
int launch(struct launch_options *o);

#endif
