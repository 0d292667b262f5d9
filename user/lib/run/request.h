/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The request for a job: the processes or cgroup to track and the data to report. It is a JSON
 * object with file descriptors attached. Processes, cgroups and sockets are passed as descriptors,
 * so that a client gets nothing that it could not have opened itself, and no number or path changes
 * its meaning between namespaces. A request contains no path, command or variable.
 */
#ifndef RUN_REQUEST_H
#define RUN_REQUEST_H

#include "base/json.h"
#include "run/limit.h"
#include "run/metric.h"

#include <sys/types.h>

#define REQUEST_VERSION 1
#define REQUEST_BYTES (64UL << 10) /* largest message */
#define REQUEST_PROCESSES 64
#define REQUEST_UDP 2
#define REQUEST_FDS (REQUEST_PROCESSES + 4 + REQUEST_UDP)

#define REQUEST_JOB_BYTES 512
#define REQUEST_SPANS_BYTES 64

/*
 * What to track. Only an agent serves the last four: all jobs of the node that the client may see,
 * each line with "run"; one of them; stored jobs that match the query in @job (agent_call.h); and
 * the line about the agent itself.
 */
enum followed {
	FOLLOW_COMMAND,
	FOLLOW_PROCESSES,
	FOLLOW_CGROUP,
	FOLLOW_NODE,
	FOLLOW_JOB,
	FOLLOW_HISTORY,
	FOLLOW_AGENT
};

/* Descriptors that were not passed are -1. */
struct request {
	enum followed follow;
	struct metric_set wanted;
	uint64_t interval_ns;
	uint64_t duration_ns;       /* of an attachment; 0: until the target has ended */
	uint64_t named_boot_ns;     /* CLOCK_BOOTTIME; a younger process reused its PID */
	uint64_t stalled_below_ppm; /* millionths of a CPU; less counts as no work */
	uint64_t stalled_after_ns;  /* time without work until stalled; 0: not detected */
	uint32_t process_samples;   /* heaviest live processes per sample; 0: none */
	uint32_t net_peers;         /* heaviest peers per sample; 0: none */
	uint32_t pss_ppm;           /* share of time for reading PSS, in millionths; 0: not read */
	struct limit limits[MAX_LIMITS]; /* only for a command */
	unsigned nr_limits;
	bool exact_peak;   /* track every change of resident memory */
	bool no_args;      /* do not read arguments */
	bool span_samples; /* report the usage of each live span at each sample */
	bool wait_tree;    /* go on until the last descendant has ended */
	bool wait_start;   /* begin the run when the cgroup has its first process */
	bool once;      /* of a node: only the present state, up to the line of the agent itself */
	bool processes; /* of a job of the node: report the live processes at each sample too */
	char job[REQUEST_JOB_BYTES];     /* id of the job, or the query */
	char spans[REQUEST_SPANS_BYTES]; /* abstract socket of an agent for spans */
	/*
	 * Omit path and arguments of processes unless they belong to user @shown_to. Set by the
	 * launcher, whose rights its caller may lack; a receiver overwrites it for a client with
	 * fewer.
	 */
	bool hides_others;
	uint32_t shown_to;
	int stream_fd;            /* socket to which the lines of the run are written */
	int marks_fd;             /* socket for marks */
	int span_fd;              /* listening socket on which spans begin */
	int udp_fds[REQUEST_UDP]; /* sockets for metrics that programs push */
	int cgroup_fd;            /* folder of the tracked cgroup, or of the command's own */
	int pid_fds[REQUEST_PROCESSES];
	size_t nr_pids; /* a command: 1, which waits to be executed; a cgroup: 0 */
};

/* Clears @r and sets every descriptor to -1. */
void request_init(struct request *r);
/* Copies the descriptors in message order to @fds (REQUEST_FDS). Returns their number. */
size_t request_fds(const struct request *r, int *fds);
/* Appends the message to @j. */
void request_write(struct jsonw *j, const struct request *r);
/*
 * Parses a message and takes over the @nr_fds descriptors received with it: on success @r owns
 * them, and they are -1 in @fds. On error they all stay in @fds, and @why has the reason, a
 * sentence without a full stop. Returns 0, -EPROTONOSUPPORT if the version is another one, -EBADMSG
 * or -ENOMEM.
 */
int request_read(struct request *r, const char *text, size_t length, int *fds, size_t nr_fds,
		 char *why, size_t size);
/* Closes processes and cgroup, which are needed only until they are looked up or sent. */
void request_close_targets(struct request *r);

#endif
