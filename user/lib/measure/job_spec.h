/* SPDX-License-Identifier: BSD-2-Clause */
/* What a job accounts and reports. */
#ifndef MEASURE_JOB_SPEC_H
#define MEASURE_JOB_SPEC_H

#include "base/cgroup.h"
#include "run/limit.h"
#include "run/run.h"
#include "measure/inbox.h"
#include "measure/tracker.h"
#include "measure/wait_times.h"

struct job_spec {
	struct tracker_options tracker;
	struct run *run;      /* interval, wanted metrics, machine; described when it begins */
	pid_t command;        /* still waits for its exec; 0: attached to running processes */
	const pid_t *targets; /* processes attached to; not owned */
	size_t nr_targets;
	/* CLOCK_BOOTTIME when the PIDs were given; a younger process has reused one */
	uint64_t named_boot_ns;
	uint64_t duration_ns; /* of an attachment; 0: until all have ended */
	/*
	 * With @hides_others: omit path and arguments of processes that /proc hides from @shown_to.
	 */
	uid_t shown_to;
	bool hides_others;
	pid_t recorder;
	/* The command's own cgroup, or NULL. */
	const struct cgroup *cgroup;
	const struct intake *intake; /* sockets for pushed datagrams; not owned; may be NULL */
	int control_fd;              /* socket to the launcher */
	int stream_fd;               /* socket to the recorder */
	int span_fd;                 /* listening socket for spans, or -1 */
	unsigned process_samples;    /* heaviest live processes at each sample */
	unsigned net_peers;          /* heaviest peers at each sample */
	unsigned pss_ppm;            /* share of time for reading PSS in millionths; 0: off */
	bool span_samples;           /* values of each live span at each sample */
	const struct limit *limits;  /* not owned */
	unsigned nr_limits;
	/*
	 * Returns true if idle processes have no work, false if they hang. NULL: cannot be known.
	 */
	bool (*is_idle)(const int32_t *pids, size_t nr);
	count_sleepers_fn count_sleepers; /* NULL: no WAIT_METRIC */
	uint64_t stalled_below_ppm; /* CPU use that counts as no work, in millionths of a CPU */
	uint64_t stalled_after_ns;  /* time without work after which a run is stalled; 0: off */
	uint64_t pss_delay_ns;      /* added to each PSS read, for tests */
	bool wait_tree;             /* run until the last descendant has ended */
	bool wait_start;            /* begin with the first process of the cgroup */
};

#endif
