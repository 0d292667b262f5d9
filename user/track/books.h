/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The books: one set for a machine. The programs in the kernel, what they report, and which job
 * each account is of. One drain serves all jobs.
 */
#ifndef TRACK_BOOKS_H
#define TRACK_BOOKS_H

#include "track/images.h"
#include "track/rows.h"
#include "track/tracker.h"

#define DRAIN_TIMES 4096 /* the last so many are kept for their median */

struct ring_buffer;

/*
 * What the books report, and to whom: @owner is what books_own() named for the account. What is of
 * an account without owner is not reported.
 */
struct books_ops {
	/* A pass over the tasks begins: all records that were sent before have been reported. */
	void (*drain_begin)(void *context);
	/* What the drain has found: the totals of an account, the processes of an account; */
	void (*total)(void *owner, const struct account *total);
	void (*slice)(void *owner, const struct slice *slice);
	/* a process whose memory it did not find; and that this is all. */
	void (*unread)(void *owner);
	void (*drain_end)(void *context);
	/* A process has ended, or has left what is followed. */
	void (*process)(void *owner, const struct process_record *r);
	void (*oom)(void *owner, const struct oom_event *e);
	/* Something befell the cgroup that is followed. */
	void (*cgroup)(void *context, const struct cgroup_event *e);
};

struct ownership {
	struct account_key account;
	void *owner;
};

struct books {
	struct tracker tracker;
	const struct books_ops *ops;
	void *context;            /* of those of @ops that have no owner */
	struct ring_buffer *ring; /* owned */
	struct images images;
	struct rows rows;         /* of the last drain */
	struct ownership *owners; /* owned; sorted by account */
	size_t nr_owners;
	void *rest;      /* owner of all accounts that have no other; NULL: nobody */
	bool wants_args; /* of what ran before */
	bool by_cgroup;  /* processes come in that ran before */
	uint64_t drain_boot_ns, drained_ns; /* when the last drain began, and ended */
	uint64_t longest_ns;                /* from the begin of one to that of the next */
	struct account_key *unread;         /* owned; of processes whose memory it lacks */
	size_t nr_unread, room_unread;
	uint64_t unnamed; /* execs that memory did not suffice for */
	uint32_t drain_us[DRAIN_TIMES];
};

/* Where the processes of a closed account go that still live: it has no owner. */
extern const struct account_key account_of_nobody;

/*
 * Loads and attaches the programs. @ops and @context are not owned. A negative errno; @why then
 * says what to do about it.
 */
int books_open(struct books *b, const struct tracker_options *o, const struct books_ops *ops,
	       void *context, char *why, size_t size);
void books_close(struct books *b);
/* From now on @key is of @owner, until books_disown(). -ENOMEM. */
int books_own(struct books *b, const struct account_key *key, void *owner);
void books_disown(struct books *b, const struct account_key *key);
/* The owner of @key, or NULL. */
void *books_owner(const struct books *b, const struct account_key *key);
/* Reports what is in the ring buffer now. */
void books_consume(struct books *b);
/*
 * Commits what the live tasks have used and reports it. The time of what it reports is one moment:
 * a drain that was held up on its way is done again. @whole: until each task has been visited.
 */
void books_drain(struct books *b, bool whole);
/* Asks /proc what the process of @row runs, if no event has said so. */
void books_name_row(struct books *b, const struct drain_row *row);
/* Asks /proc what the processes run that were there before they were followed. */
void books_name_seeded(struct books *b);
/*
 * Closes an account: @record is called for each process that it still has; those that have ended
 * are reported. Its totals are final then. A negative errno.
 */
int books_retire(struct books *b, const struct account_key *key,
		 void (*record)(void *context, const struct process_record *r), void *context);
/* The median of how long the last drains took, ns; 0: there was none. */
uint64_t books_drain_median(struct books *b);

#endif
