/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The books: the BPF programs, what they report, and the owner (a job) of each account. A collector
 * has one; one drain serves all its jobs.
 */
#ifndef MEASURE_BOOKS_H
#define MEASURE_BOOKS_H

#include "measure/energy_part.h"
#include "measure/gpus.h"
#include "measure/images.h"
#include "measure/task_rows.h"
#include "measure/tracker.h"
#include "measure/wait_times.h"

#define DRAIN_TIMES 4096 /* durations of the last drains that are kept for the median */

/*
 * Callbacks of the books. @owner is the value that books_own() set for the account. Accounts
 * without an owner are not reported.
 */
struct books_ops {
	/* A drain begins. All records sent before it have been reported. */
	void (*drain_begin)(void *context);
	/* Results of a drain: the totals of an account, then its processes, */
	void (*total)(void *owner, const struct account_key *key, const struct account *total);
	void (*slice)(void *owner, const struct slice *slice);
	/* each of its live TCP sockets if M_net_sockets is usable, */
	void (*socket)(void *owner, const struct socket_row *row);
	/* and each process whose memory the drain could not read. drain_end() follows. */
	void (*unread)(void *owner);
	void (*drain_end)(void *context);
	/* A process has ended or has left the tracked cgroup. */
	void (*process)(void *owner, const struct process_record *r);
	void (*oom)(void *owner, const struct oom_event *e);
	/* The tracked cgroup was removed or recreated, or the hook missed moves of threads. */
	void (*cgroup)(void *context, const struct cgroup_event *e);
	/* The tree holds more memory than tracker_watch_memory() allows. May be NULL. */
	void (*memory)(void *context);
	/* For a whole node, else NULL: the same for all accounts, owned or not. */
	void (*node_total)(void *context, const struct account_key *key,
			   const struct account *total);
	void (*node_slice)(void *context, const struct slice *slice);
	/* a process has ended whose use of GPUs may have become more by that */
	void (*node_ended)(void *context, const struct process_record *r);
	void (*node_oom)(void *context, const struct oom_event *e);
	/*
	 * An account begins, has no process left, or was removed with @total; a cgroup was created
	 * or removed.
	 */
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
	void *context; /* for the callbacks without an owner */
	struct images images;
	struct rows rows;         /* of the last drain */
	struct ownership *owners; /* owned; sorted by account */
	size_t nr_owners;
	void *rest;      /* owner of all accounts without one of their own, or NULL */
	bool wants_args; /* read arguments of seeded processes */
	bool by_cgroup;  /* running processes may be moved into the cgroup */
	bool whole_node; /* an owner has all accounts of a tree */
	/* CLOCK_BOOTTIME at the begin, CLOCK_MONOTONIC at the end of the last drain */
	uint64_t drain_boot_ns, drained_ns;
	uint64_t longest_ns;        /* longest time between the begins of two drains */
	struct account_key *unread; /* owned; accounts of processes whose memory was not read */
	size_t nr_unread, room_unread;
	uint64_t unnamed; /* execs dropped for lack of memory */
	uint32_t drain_us[DRAIN_TIMES];
	struct wait_budget waits;
	struct gpu_desk gpus;
	int gpus_err; /* of gpu_desk_open() */
	struct energy_meter energy;
	uint64_t nr_trees; /* trees returned by books_new_tree() */
};

/* Account without an owner: takes the processes that outlive their account. */
extern const struct account_key account_of_none;

/*
 * Loads and attaches the programs. @ops and @context must outlive the books. Returns 0, or a
 * negative errno with advice in @why.
 */
int books_open(struct books *b, const struct tracker_options *o, const struct books_ops *ops,
	       void *context, char *why, size_t size);
void books_close(struct books *b);
/*
 * Makes @owner the owner of @key (for a whole node: of all accounts of its tree) until
 * books_disown(). Returns 0 or -ENOMEM.
 */
int books_own(struct books *b, const struct account_key *key, void *owner);
void books_disown(struct books *b, const struct account_key *key);
/* Finds an account of @owner and stores its key in @key. Returns false if there is none. */
bool books_find_owned(const struct books *b, const void *owner, struct account_key *key);
/* Returns a tree number that no other account has. */
uint64_t books_new_tree(struct books *b);
void *books_owner(const struct books *b, const struct account_key *key);
/* Reports all events that are now in the ring buffer. */
void books_consume(struct books *b);
/*
 * Commits and reports what all live tasks have used. Repeats a drain that had to wait for a CPU, so
 * that the values are of one moment. With @whole, repeats passes until all tasks were visited.
 */
void books_drain(struct books *b, bool whole);
/*
 * Reports the processes that have ended and wait for the driver's account of their use of GPUs:
 * those whose wait is over, and all of @owner (may be NULL).
 */
void books_report_leavers(struct books *b, const void *owner);
/* Reads from /proc which programs the seeded processes run. */
void books_name_seeded(struct books *b);
/*
 * Reads from /proc which programs the processes with an owner run, where another process has taken
 * the exec events.
 */
void books_name_owned(struct books *b);
/* Reads from /proc which program the process @pid runs, and stores it as @image. */
void books_name_process(struct books *b, uint32_t pid, uint64_t image);
/*
 * Closes the account @key. Calls @record for each live process and moves it to the account @heir;
 * ended processes are reported. Afterwards the totals are final. Returns 0 or a negative errno.
 */
int books_retire(struct books *b, const struct account_key *key, const struct account_key *heir,
		 void (*record)(void *context, const struct process_record *r), void *context);
/*
 * Removes the account @key, whose processes have been freed or retired; for a whole node, all
 * accounts of its tree. Stores their sum in @total. Returns -ENOENT if there is none.
 */
int books_remove(struct books *b, const struct account_key *key, struct account *total);
/* Returns the median duration of the last drains in ns, or 0 without a drain. */
uint64_t books_drain_median(struct books *b);

#endif
