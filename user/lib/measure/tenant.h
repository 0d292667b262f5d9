/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A job with its client: the messages that the client sends, the listener that gets the lines, and
 * the events that are of this job alone. The collector of a run has one, a node has many; its
 * owner has the loop and decides when samples are taken.
 */
#ifndef MEASURE_TENANT_H
#define MEASURE_TENANT_H

#include "base/loop.h"
#include "base/message.h"
#include "measure/job.h"
#include "measure/job_spec.h"
#include "measure/live.h"
#include "measure/span_desk.h"
#include "run/description.h"
#include "run/request.h"

/*
 * A job as it was asked for: what the messages of its client, the request and the description of
 * the run, become. They are checked as input of unknown origin.
 */

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
	bool feed_waits; /* for EPOLLOUT */
};

/* Opens nothing: tenant_done() is harmless after it. */
void tenant_init(struct tenant *t, struct loop *loop);
/* Starts the threads that it needs, with the rights that the caller has now. 0; or a negative
 * errno, and @why says what failed. */
int tenant_start_threads(struct tenant *t, char *why, size_t size);
/* Adds its sources, but for that of spans, to the loop. 0 or a negative errno. */
int tenant_open_sources(struct tenant *t);
/* From now on its command can begin spans. 0 or a negative errno. */
int tenant_open_desk(struct tenant *t);
/* Acts on what the client has sent while the job runs; @c is NULL if the client is gone. */
void tenant_obey(struct tenant *t, const struct control *c);
void tenant_set_incomplete(struct tenant *t, const char *reason);
/* The same, because that process of bpfmon was killed; @effect: what comes of it. */
void tenant_set_killed(struct tenant *t, const char *role, const char *effect);
/* Adds @passed - 1 late ticks to the summary, with an event, if there were any. */
void tenant_note_ticks(struct tenant *t, uint64_t passed);
/* To be called before the loop waits: the listener is waited for if there is something to send. */
void tenant_watch_feed(struct tenant *t);
/* To be called after the loop has waited: handles what has become due meanwhile. */
void tenant_attend(struct tenant *t);
/* The longest wait until the next tenant_attend(), no more than @wait_ms (-1: no limit). */
int tenant_wait(struct tenant *t, int wait_ms);
/* Has the thread stop that receives what programs push. False: tenant_close_job() would wait for it
 * now; it makes the loop turn when it has. */
bool tenant_may_close_job(struct tenant *t);
/* After that: true: the thread hangs, and @t may not be freed. */
bool tenant_is_abandoned(const struct tenant *t);
/* Takes no more messages of programs; closes the accounts of the job. */
void tenant_close_job(struct tenant *t);
void tenant_done(struct tenant *t);

#endif
