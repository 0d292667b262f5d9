/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The request for a job: what is to be followed, and what of it is to be reported. It is a JSON
 * object, with descriptors beside it: processes, a cgroup and sockets come as those, so that a
 * client gets nothing that it could not have opened itself, and no number or path has another
 * meaning in its namespace. There is no path, command or variable in it.
 */
#ifndef RUN_REQUEST_H
#define RUN_REQUEST_H

#include "base/json.h"
#include "run/limit.h"
#include "run/metric.h"

#include <sys/types.h>

#define REQUEST_VERSION 1
#define REQUEST_BYTES (64UL << 10) /* the most that one has */
#define REQUEST_PROCESSES 64
#define REQUEST_UDP 2
#define REQUEST_FDS (REQUEST_PROCESSES + 4 + REQUEST_UDP)

#define REQUEST_JOB_BYTES 512
#define REQUEST_SPANS_BYTES 64

/*
 * What is to be followed. An agent alone knows the last three: all jobs of the node that the client
 * may see, each line with "run"; one of them; and those that have been kept, as the query in @job
 * has it (agent_call.h).
 */
enum followed {
	FOLLOW_COMMAND,
	FOLLOW_PROCESSES,
	FOLLOW_CGROUP,
	FOLLOW_NODE,
	FOLLOW_JOB,
	FOLLOW_HISTORY
};

/* Descriptors that are not there are -1. */
struct request {
	enum followed follow;
	struct metric_set wanted;
	uint64_t interval_ns;
	uint64_t duration_ns;       /* of an attachment; 0: until it has ended */
	uint64_t named_boot_ns;     /* CLOCK_BOOTTIME; a process that is younger was not meant */
	uint64_t stalled_below_ppm; /* millionths of a CPU: less is no work */
	uint64_t stalled_after_ns;  /* without work a run is stalled; 0: not asked for */
	uint32_t process_samples;   /* of the heaviest live ones, at each sample; 0: none */
	uint32_t net_peers;         /* the heaviest peers, at each sample; 0: none */
	uint32_t pss_ppm;           /* millionths of the time for reading PSS; 0: it is not read */
	struct limit limits[MAX_LIMITS]; /* of a command */
	unsigned nr_limits;
	bool exact_peak;   /* follow every change of resident memory */
	bool no_args;      /* arguments are not read */
	bool span_samples; /* what each live span has used, at each sample */
	bool wait_tree;    /* go on until the last descendant has ended */
	bool wait_start;   /* the run begins when the cgroup has its first process */
	bool once;         /* of a node: what there is now, up to the line of the agent itself */
	bool processes;    /* of one of its jobs: the live processes too, at each sample */
	char job[REQUEST_JOB_BYTES];     /* its id, where one is followed; or the query */
	char spans[REQUEST_SPANS_BYTES]; /* abstract name at which an agent is to listen for spans
					  */
	/*
	 * Path and arguments of processes are left out unless they are of the user @shown_to. Known
	 * to the launcher, which has rights that its caller may lack; of a client of less rights it
	 * is to be overwritten.
	 */
	bool hides_others;
	uint32_t shown_to;
	int stream_fd;            /* a socket: the lines of the run are written to it */
	int marks_fd;             /* a socket for marks */
	int span_fd;              /* a listening socket, on which spans begin */
	int udp_fds[REQUEST_UDP]; /* sockets for metrics that programs push */
	int cgroup_fd;            /* the folder that is followed; or the command's own */
	int pid_fds[REQUEST_PROCESSES];
	size_t nr_pids; /* a command: 1, which waits to be executed; a cgroup: 0 */
};

/* Nothing, with every descriptor -1. */
void request_init(struct request *r);
/* The descriptors that @r has, into @fds (REQUEST_FDS), in the order of its message. How many. */
size_t request_fds(const struct request *r, int *fds);
/* Appends the message to @j. */
void request_write(struct jsonw *j, const struct request *r);
/*
 * Reads a message and the @nr_fds descriptors that came with it: those are @r's from then on, and
 * -1 in @fds. -EPROTONOSUPPORT: it is of another version; -EBADMSG; -ENOMEM: they are all still in
 * @fds, and @why is a sentence without a full stop.
 */
int request_read(struct request *r, const char *text, size_t length, int *fds, size_t nr_fds,
		 char *why, size_t size);
/* Closes the processes and the cgroup, which are needed only until they are looked up or sent. */
void request_close_followed(struct request *r);

#endif
