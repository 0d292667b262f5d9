/* SPDX-License-Identifier: BSD-2-Clause */
/* What is to be followed, and what of it is to be reported. */
#ifndef MEASURE_JOB_SPEC_H
#define MEASURE_JOB_SPEC_H

#include "base/cgroup.h"
#include "run/limit.h"
#include "run/run.h"
#include "measure/inbox.h"
#include "measure/tracker.h"

struct job_spec {
	struct tracker_options tracker;
	struct run *run;      /* interval, wanted metrics, machine; described when it begins */
	pid_t command;        /* waits to be executed; 0: attached to what runs */
	const pid_t *targets; /* what was attached to, not owned */
	size_t nr_targets;
	uint64_t named_boot_ns; /* CLOCK_BOOTTIME; a younger process was not meant */
	uint64_t duration_ns;   /* of an attachment; 0: until it has ended */
	/*
	 * With @hides_others: path and arguments of processes of other users are left out, as /proc
	 * hides them from the calling user.
	 */
	uid_t shown_to;
	bool hides_others;
	pid_t recorder;
	/* The command's own; NULL: it has none. */
	const struct cgroup *cgroup;
	const struct intake *intake; /* of what programs push, not owned; NULL: nothing is taken */
	int control_fd;              /* to the launcher */
	int stream_fd;               /* to the recorder */
	int span_fd;                 /* spans begin there; -1: none do */
	unsigned process_samples;    /* of the heaviest live ones, at each sample; 0: none */
	unsigned net_peers;          /* the heaviest peers, at each sample; 0: none */
	unsigned pss_ppm;            /* millionths of the time for reading PSS; 0: not read */
	bool span_samples;           /* what each live span has used, at each sample */
	const struct limit *limits;  /* not owned */
	unsigned nr_limits;
	/* Whether the processes that do nothing have nothing to do; NULL: it cannot be known */
	bool (*is_idle)(const int32_t *pids, size_t nr);
	uint64_t stalled_below_ppm; /* millionths of a CPU: less is no work */
	uint64_t stalled_after_ns;  /* without work a run is stalled; 0: not asked for */
	uint64_t pss_delay_ns;      /* that each read takes longer, for tests */
	bool wait_tree;             /* go on until the last descendant has ended */
	bool wait_start;            /* the run begins when the cgroup has its first process */
};

#endif
