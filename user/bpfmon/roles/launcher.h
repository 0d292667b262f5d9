/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Starts the command and the two roles, forwards signals to the command, and exits as the command
 * does.
 */
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

/* How a command ended. */
struct launch_outcome {
	bool has_ended; /* the command ran; status is valid */
	int status;     /* from wait(2) */
};

struct launch_options {
	char *const *argv;
	const int *streams; /* the command's descriptors 0 to 2; NULL: those of bpfmon */
	struct launch_outcome *outcome; /* filled in; may be NULL */
	const struct user *run_as;      /* user of the command; NULL: that of bpfmon */
	const struct user *record_as;   /* user of the recorder; NULL: that of bpfmon */
	const struct user *caller;      /* user who called sudo; NULL: no sudo */
	bool notes_root; /* print that the command runs as root, and how it runs as @caller */
	struct intake_options push; /* what programs may push */
	bool own_cgroup;            /* the command gets a cgroup, removed at the end */
	int cgroup_keeper_fd;       /* filled in if own_cgroup; an open copy delays the removal */
	struct intake_sockets *intake; /* filled in; NULL: none */
	const struct cgroup *cgroup;   /* filled in with the command's own cgroup; NULL: none */
	const struct cgroup_target *target; /* cgroup to attach to */
	const pid_t *targets;               /* processes to attach to */
	size_t nr_targets;
	const char *target_job;  /* job of the node to attach to, known to its agent */
	bool is_bare;            /* measure nothing */
	int agent_fd;            /* connected to the agent, owned; -1: no agent */
	uint64_t limit_grace_ns; /* from SIGTERM to SIGKILL, beyond a limit */
	/* of request.limits; NULL if no file sets any */
	const struct limit_origin *limit_origins;
	struct run *run;                    /* the caller fills in what it knows */
	struct request request;             /* for the collector; descriptors are filled in */
	struct collector_options collector; /* descriptors and PIDs are filled in */
	struct recorder_options recorder;
};

/*
 * Executes the run. Returns the exit status; if a signal killed the command, ends this process by
 * the same signal.
 */
int launcher_run(struct launch_options *o);

/*
 * Executes @command in this process, for a span or a run that is not measured. Returns only on
 * failure: an exit status, after a message.
 */
int argv_execute(char **command);

#endif
