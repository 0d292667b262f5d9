/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The books, one for the collector: the programs in the kernel, what they report, and the job that
 * owns each account. One drain serves all jobs.
 */
#ifndef MEASURE_BOOKS_H
#define MEASURE_BOOKS_H

#include "measure/images.h"
#include "measure/task_rows.h"
#include "measure/tracker.h"

#define DRAIN_TIMES 4096 /* the times of the last drains, kept for their median */

/*
 * The callbacks of the books. @owner is the one that books_own() set for the account; nothing is
 * reported of an account without an owner.
 */
struct books_ops {
	/* A drain begins: all records that were sent before have been reported. */
	void (*drain_begin)(void *context);
	/* What the drain has found: the totals of an account; the processes of an account; */
	void (*total)(void *owner, const struct account_key *key, const struct account *total);
	void (*slice)(void *owner, const struct slice *slice);
	/* one of its live TCP sockets, where these are wanted; */
	void (*socket)(void *owner, const struct socket_row *row);
	/* a process of which it did not find the memory. Then: this was all. */
	void (*unread)(void *owner);
	void (*drain_end)(void *context);
	/* A process has ended, or has left the cgroup that is followed. */
	void (*process)(void *owner, const struct process_record *r);
	void (*oom)(void *owner, const struct oom_event *e);
	/* A change of the cgroup that is followed. */
	void (*cgroup)(void *context, const struct cgroup_event *e);
	/* The tree holds more memory than was watched for; NULL: nothing is. */
	void (*memory)(void *context);
	/* Of a whole node, else NULL: the same of all accounts, of any owner; */
	void (*node_total)(void *context, const struct account_key *key,
			   const struct account *total);
	void (*node_slice)(void *context, const struct slice *slice);
	void (*node_oom)(void *context, const struct oom_event *e);
	/* an account begins; has no process; or is not in the books any more, with @total; a cgroup
	 * comes or goes. */
	void (*node_begun)(void *context, const struct account_key *key);
	void (*node_empty)(void *context, const struct account_key *key);
	void (*node_removed)(void *context, const struct account_key *key,
			     const struct account *total);
	void (*node_cgroup)(void *context, const struct cgroup_name_event *e);
};

struct ownership {
	struct account_key account;
	void *owner;
};

struct books {
	struct tracker tracker;
	const struct books_ops *ops;
	void *context; /* for those of @ops without an owner */
	struct images images;
	struct rows rows;         /* of the last drain */
	struct ownership *owners; /* owned; sorted by account */
	size_t nr_owners;
	void *rest;      /* owner of all accounts without one of their own; NULL: none */
	bool wants_args; /* arguments of processes that are seeded */
	bool by_cgroup;  /* running processes may be moved in */
	bool whole_node; /* accounts are owned by tree */
	uint64_t drain_boot_ns, drained_ns; /* when the last drain began, and ended */
	uint64_t longest_ns;                /* from one drain's beginning to the next's */
	struct account_key *unread;         /* owned; of processes without memory in it */
	size_t nr_unread, room_unread;
	uint64_t unnamed; /* execs that are not kept, for lack of memory */
	uint32_t drain_us[DRAIN_TIMES];
	uint64_t nr_trees; /* that books_new_tree() has given */
};

/* The account of processes that outlive the account they were in: it has no owner. */
extern const struct account_key account_of_none;

/*
 * Loads and attaches the programs. @ops and @context are not owned. 0; or a negative errno, and
 * @why says what to do about it.
 */
int books_open(struct books *b, const struct tracker_options *o, const struct books_ops *ops,
	       void *context, char *why, size_t size);
void books_close(struct books *b);
/* From now on @owner has @key, of a whole node all accounts of its tree, until books_disown(). 0 or
 * -ENOMEM. */
int books_own(struct books *b, const struct account_key *key, void *owner);
void books_disown(struct books *b, const struct account_key *key);
/* An account that @owner has, in *@key. False: it has none. */
bool books_find_owned(const struct books *b, const void *owner, struct account_key *key);
/* The tree of a new account, which no other account has. */
uint64_t books_new_tree(struct books *b);
/* The owner of @key, or NULL. */
void *books_owner(const struct books *b, const struct account_key *key);
/* Reports what is in the ring buffer now. */
void books_consume(struct books *b);
/*
 * Commits what the live tasks have used and reports it, as of one moment: a drain that had to wait
 * for a CPU is done again. @whole: until each task has been visited.
 */
void books_drain(struct books *b, bool whole);
/* Reads in /proc what the seeded processes run. */
void books_name_seeded(struct books *b);
/* Reads in /proc what the process @pid runs, as the image @image. */
void books_name_process(struct books *b, uint32_t pid, uint64_t image);
/*
 * Closes an account: calls @record for each process that it still has, which goes to the account
 * @heir; those that have ended are reported. After that its totals are final. 0 or a negative
 * errno.
 */
int books_retire(struct books *b, const struct account_key *key, const struct account_key *heir,
		 void (*record)(void *context, const struct process_record *r), void *context);
/*
 * Removes the accounts of the tree of @key (but of a whole node, only @key), whose processes have
 * been freed or retired; @total is what they had. -ENOENT: there is none.
 */
int books_remove(struct books *b, const struct account_key *key, struct account *total);
/* The median of how long the last drains took, ns; 0: there was none. */
uint64_t books_drain_median(struct books *b);

#endif
