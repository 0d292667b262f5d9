/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job with its client: messages of the client, its feed, and the events of this job. A collector
 * has one, an agent many. The owner runs the loop and decides when samples are taken.
 */
#ifndef MEASURE_TENANT_H
#define MEASURE_TENANT_H

#include "base/loop.h"
#include "base/message.h"
#include "measure/job.h"
#include "measure/live.h"
#include "measure/span_desk.h"
#include "run/description.h"
#include "run/request.h"

/*
 * A job as requested by the client's messages, the request and the description, which are validated
 * as untrusted input. Members of @spec point to the others.
 */
struct assignment {
	struct job_spec spec;
	struct run run;
	bool is_described;
	struct described described;
	struct cgroup_target target; /* cgroup attached to */
	struct cgroup cgroup;        /* the command's own */
	struct intake intake;
	pid_t pids[REQUEST_PROCESSES];
	struct limit limits[MAX_LIMITS];
};

/*
 * Takes the request and its descriptors: keeps sockets, looks up processes and the cgroup and
 * closes these. Empties @m. Returns 0, or a negative errno with @why, without a full stop. Call
 * assignment_done() in either case.
 */
int assignment_take_request(struct assignment *a, struct message *m, char *why, size_t size);
/* Takes a request that was read before: takes its sockets and closes nothing. Returns as above. */
int assignment_take(struct assignment *a, struct request *r, char *why, size_t size);
/*
 * Takes a request again, with its sockets; its processes were found before: those of @pids, of
 * which the first is the command if the request is for one.
 */
int assignment_take_again(struct assignment *a, struct request *r, const pid_t *pids, size_t nr,
			  char *why, size_t size);
/* Sets the name of the socket at which clients can follow the run, if there is one. */
void assignment_name_socket(struct assignment *a);
/* Takes the description of the run. Empties @m. Returns 0, or a negative errno with @why. */
int assignment_take_description(struct assignment *a, struct message *m, char *why, size_t size);
void assignment_done(struct assignment *a);

enum progress { WAITS, RUNNING, COMMAND_ENDED, OVER };

enum tenant_source { TENANT_FEED, TENANT_PUSHED, TENANT_PSS, NR_TENANT_SOURCES };

struct tenant {
	struct assignment assignment;
	struct job job;
	struct feed feed;
	struct loop *loop; /* not owned */
	struct loop_source sources[NR_TENANT_SOURCES];
	struct span_desk desk;
	struct live live;
	enum progress progress;
	bool feed_waits; /* polls for EPOLLOUT */
};

/* Opens nothing. tenant_done() may follow. */
void tenant_init(struct tenant *t, struct loop *loop);
/*
 * Starts the needed threads with the caller's present rights. Returns 0, or a negative errno with
 * @why.
 */
int tenant_start_threads(struct tenant *t, char *why, size_t size);
/* Adds its sources, except that of spans, to the loop. Returns 0 or a negative errno. */
int tenant_open_sources(struct tenant *t);
/* Accepts spans of the command from now on. Returns 0 or a negative errno. */
int tenant_open_desk(struct tenant *t);
/* Handles a message of the client during the run. @c is NULL if the client is gone. */
void tenant_handle_control(struct tenant *t, const struct control *c);
void tenant_set_incomplete(struct tenant *t, const char *reason);
/*
 * Marks the run as incomplete because a process of bpfmon was killed. @effect is appended to the
 * reason.
 */
void tenant_set_killed(struct tenant *t, const char *role, const char *effect);
/* Counts @passed - 1 late ticks in the summary and writes an event, if there were any. */
void tenant_note_ticks(struct tenant *t, uint64_t passed);
/* Call before the loop waits: polls listeners that have something to send. */
void tenant_watch_feed(struct tenant *t);
/* Handles what is due. Call after the loop has waited. */
void tenant_attend(struct tenant *t);
/* Returns the time in ms until tenant_attend() is due, at most @wait_ms (-1: no limit). */
int tenant_wait(struct tenant *t, int wait_ms);
/*
 * Requests the thread that receives pushed datagrams to stop, and wakes the loop when it has.
 * Returns false if tenant_close_job() would still wait for it.
 */
bool tenant_may_close_job(struct tenant *t);
/* Returns true if that thread hangs: @t must not be freed. */
bool tenant_is_abandoned(const struct tenant *t);
/* Accepts no more messages of programs and closes the job's accounts. */
void tenant_close_job(struct tenant *t);
void tenant_done(struct tenant *t);

#endif
