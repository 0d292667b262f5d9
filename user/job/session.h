/* SPDX-License-Identifier: BSD-2-Clause */
/* One followed run: turns what the tracker reads into samples, records and the summary. */
#ifndef JOB_SESSION_H
#define JOB_SESSION_H

#include "job/bound.h"
#include "job/cgroup_stat.h"
#include "job/spec.h"
#include "job/exact_peak.h"
#include "job/heaviest.h"
#include "track/images.h"
#include "job/memory.h"
#include "job/pss.h"
#include "track/pressure.h"
#include "push/pushed.h"
#include "feed/stream.h"
#include "job/target.h"

#define DRAIN_TIMES 4096 /* the last so many are kept for their median */

struct session {
	const struct job_spec *options;
	struct run *run;
	struct tracker tracker;
	struct ring_buffer *ring; /* owned */
	struct images images;
	struct stream stream;
	struct patience with_recorder; /* ends some time after the launcher */
	struct summary summary;
	struct json json;
	struct rows rows;            /* of the last drain */
	struct heaviest heaviest;    /* of these rows; --process-samples */
	uint64_t start_ns;           /* CLOCK_MONOTONIC */
	uint64_t epoch_less_boot_ns; /* CLOCK_REALTIME - CLOCK_BOOTTIME, at the start */
	struct memory_bound bound;
	struct exact_peak exact;
	struct pss pss;
	struct cgroup_stat cgroup;
	struct cgroup_target own_cgroup; /* --own-cgroup */
	struct target target;            /* where a cgroup was attached to */
	struct pressure host_pressure;
	struct pushed pushed;
	uint64_t drain_boot_ns, drained_ns; /* when the last drain began, and ended */
	uint64_t longest_ns;                /* from the begin of one to that of the next */
	struct account totals;              /* read when it had ended */
	struct cores cores;
	uint64_t live;              /* processes, at the last sample */
	uint64_t seeded_roots;      /* processes that were attached to */
	uint64_t unnamed;           /* execs that memory did not suffice for */
	uint64_t nr_unread, unread; /* processes whose memory the last drain lacks; all samples */
	uint64_t *emitted;          /* owned; serials of records since the hooks were detached */
	size_t nr_emitted;
	bool is_closing;
	uint32_t drain_us[DRAIN_TIMES];
};

int session_open(struct session *s, const struct job_spec *o, char *why, size_t size);
/* The command has just been executed: writes meta and the first sample. */
void session_start(struct session *s, uint64_t start_ns);
/* Drains, takes the records that have come, writes a sample. */
void session_sample(struct session *s);
/* Its two halves: commits what the live tasks have used and remembers what each process holds; */
void session_drain(struct session *s, bool whole);
/* and writes the sample that this was for. */
void session_publish(struct session *s);
/* With process_samples: writes who held the most at the sample @smp, of the last drain. */
void session_put_heaviest(struct session *s, const struct sample *smp);
/* Writes the record of a process; @row: what it held at the last drain, or NULL. @is_left: it is
 * still in the map. */
void session_emit(struct session *s, const struct process_record *r, const struct drain_row *row,
		  bool is_left);
/* Asks /proc what the process of @row runs, if nobody has told. */
void session_name(struct session *s, const struct drain_row *row);
/* An event of the ring buffer; @context is the session. */
int session_event(void *context, void *data, size_t size);
/* Takes what is in the ring buffer now. */
void session_consume(struct session *s);
/* Live processes, as the kernel counts them now. */
uint64_t session_live(struct session *s);
/* All that there have been so far, those that have ended included. */
uint64_t session_processes(struct session *s);
/* Takes what programs have pushed, if that is listened to: samples for marks, and their lines. */
void session_take_pushed(struct session *s);
/* For no longer than @wait_ms (-1: for ever) may it then be waited. */
int session_pushed_wait(const struct session *s, int wait_ms);
/* The same at the end, when all processes have been told of. */
void session_close_pushed(struct session *s);
/* The last drain, the records that are left, the summary; then nothing is left in the kernel. */
void session_close(struct session *s);
void session_done(struct session *s);

#endif
