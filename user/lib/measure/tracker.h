/* SPDX-License-Identifier: BSD-2-Clause */
/* The programs in the kernel: loads them, makes them follow processes, and drains their maps. */
#ifndef MEASURE_TRACKER_H
#define MEASURE_TRACKER_H

#include "base/cgroup.h"
#include "bpfmon/shared.h"
#include "measure/accounts.h"
#include "measure/iterator.h"
#include "measure/optional.h"
#include "measure/proc_source.h"
#include "run/metric.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct bpfmon;
struct bpf_link;
struct ring_buffer;

struct tracker_options {
	struct metric_set wanted;
	bool no_args;
	bool exact_peak;  /* follow every change of resident memory */
	bool net_peers;   /* with metrics of sockets: bytes by peer, of one run */
	bool want_memory; /* what each process holds, even if no metric of it is wanted */
	bool can_seed;    /* tracker_seed() will be called */
	bool can_move;    /* tracker_move() will be called */
	bool may_end;     /* tracker_end() may be called */
	const struct cgroup_target *cgroup; /* not owned; NULL: membership is by lineage */
	const char *wire_cgroup; /* folder of version 2 whose packets are counted; not owned; NULL:
				    none */
	bool whole_node; /* follow all tasks, each in an account of its cgroup; @cgroup: the root
			    of the hierarchy that accounts go by */
	bool only_runs;  /* with whole_node: drains skip what is in no run */
	bool verbose;    /* print to stderr why a program does not load */
	pid_t proc_launcher;    /* the source is /proc, of the children of this process; 0: BPF */
	uint64_t interval_ns;   /* between drains */
	unsigned max_tasks;     /* entries of the maps; 0: the default */
	unsigned inject_misses; /* thousandths of the events to ignore, for tests */
	unsigned inject_free_misses; /* the same, of the last event of a task */
	bool all_types;              /* relocate with all types of the kernel, for tests */
	unsigned rows;               /* of a run of the drain; 0: the default; for tests */
	struct refusals refusals;
};

struct tracker {
	struct proc_source
		*proc;       /* owned; NULL: the source is BPF, and all that follows is of it */
	struct bpfmon *skel; /* owned */
	struct bpf_link *adopt_link; /* owned */
	struct walker drain, retire;
	struct ring_buffer *ring; /* owned */
	struct optionals optional;
	struct accounts accounts;         /* when last read */
	struct account removed;           /* the sum of those that are not in the map any more */
	struct metric_set usable;         /* of those wanted */
	const char *unusable[NR_METRICS]; /* why not; not owned */
	uint64_t misses;                  /* events that hooks missed, when last read */
	uint64_t repaired_ns;             /* CLOCK_MONOTONIC, when last read */
	uint64_t newtask_missed;
	uint64_t births_unreported; /* forks of the kernel less those seen, at the start */
	bool knows_births;
	uint64_t births_missed; /* of these, births that both hooks missed */
	uint64_t drains, drain_ns_total, drain_ns_max;
	uint64_t began_ns;       /* CLOCK_MONOTONIC, before the last drain met its first task */
	uint64_t seed_ns;        /* how long tracker_seed() took */
	uint64_t seeded_ns;      /* CLOCK_MONOTONIC, when it was done */
	uint64_t seeded_sockets; /* of so many tasks that were attached to */
	uint64_t moves_unseen;   /* when last read */
	uint64_t moves_missed;
	bool adopts_always; /* misses are injected: they are not in the kernel's count */
};

/*
 * Opens, loads and attaches. On failure a negative errno; @why then says what to do about it, in
 * a sentence without a full stop.
 */
int tracker_open(struct tracker *t, const struct tracker_options *o, char *why, size_t why_size);
void tracker_close(struct tracker *t);

/* Makes @pid the root. -ESRCH: there is no such process. */
int tracker_follow(struct tracker *t, pid_t pid);

/*
 * Follows the @nr processes of @pids and all their descendants; what they have used so far does not
 * count. If none of them exists any more, it returns 0 and follows nothing.
 */
int tracker_seed(struct tracker *t, const pid_t *pids, size_t nr);
/* With whole_node: finds what runs; what it has used so far does not count. */
int tracker_seed_node(struct tracker *t);
/*
 * The same for the processes in the cgroup @id: that of the options, or the one that takes its
 * place later; except for those in @own, bpfmon's own PIDs, which ends with 0. @depth: 1: that of
 * the root cgroup; 0: unknown.
 */
int tracker_seed_cgroup(struct tracker *t, uint64_t id, unsigned depth, const pid_t *own);
/* Looks again for processes in that cgroup: what new ones have used so far does not count. */
int tracker_seed_again(struct tracker *t);
/* Finds the sockets that processes had before they were attached to, of those found since the last
 * call. */
int tracker_seed_sockets(struct tracker *t);
/* What the processes that tracker_seed() found had used before. */
void tracker_baseline(const struct tracker *t, uint64_t *values, struct metric_set *have);

/* Of a tracker from /proc: what the launcher has waited for. */
void tracker_note_reaped(struct tracker *t, const struct reaped *r);
/* And CPU time that is in no account, when these were read; neither user nor system time. */
uint64_t tracker_unsplit(const struct tracker *t);
/* True if any running task has been found by seeding. */
bool tracker_has_found(const struct tracker *t);
/* True if not in the initial PID namespace: the iterator over tasks sees only bpfmon's own one. */
bool tracker_is_in_a_pid_namespace(const struct tracker *t);

typedef void (*drain_fn)(void *context, const struct drain_row *row);
/*
 * Commits what every followed task has used, and calls @row for each live process. Before that it
 * repairs what the hooks have missed: births always, the rest once in a second.
 */
int tracker_drain(struct tracker *t, drain_fn row, void *context);
/* Without BPF nothing reports what begins and ends between two drains. */
bool tracker_needs_looks(const struct tracker *t);
/* Looks for that. Nanoseconds until the next look. */
uint64_t tracker_look(struct tracker *t);
/* Without BPF: see the functions of the same names in track/proc_source.h. */
int tracker_births_fd(const struct tracker *t);
uint64_t tracker_births_lost(const struct tracker *t);
const char *tracker_births_missing(const struct tracker *t);
/* 0 if this process has the rights for a drain, or a negative errno. Does not drain. */
int tracker_may_drain(const struct tracker *t);
/* A further pass for what that drain has missed: processes that it has reported are left out. */
int tracker_drain_again(struct tracker *t, drain_fn row, void *context);
/* True if the last pass has met all tasks that had been born when it began. */
bool tracker_visited_all(const struct tracker *t);
/* True if rows have the memory that a process holds. */
bool tracker_reads_memory(const struct tracker *t);
/* Drains until all these tasks have been met (a walk over the map may miss one under churn). */
int tracker_drain_whole(struct tracker *t, drain_fn row, void *context);
/* Reads the totals of all accounts into @t->accounts. */
void tracker_read_accounts(struct tracker *t);
/* The sum over all accounts, read now; those that were removed included. */
void tracker_totals(struct tracker *t, struct account *totals);
const struct tracking *tracker_tracking(const struct tracker *t);
/* Events that were missed and repaired so far. */
uint64_t tracker_repaired(const struct tracker *t);
/* An upper bound of births that were missed and not repaired: it may include unrelated ones. */
uint64_t tracker_unrepaired(const struct tracker *t);

/* Events of sockets that were missed on the whole machine: what sockets moved is at least what is
 * counted. 0 if they are not counted. */
uint64_t tracker_socket_misses(const struct tracker *t);

/* Computes the births that were missed, of which there is only an upper bound until then. */
void tracker_settle_births(struct tracker *t);
/* With exact_peak: reports once when the tree holds more than @bytes; 0: nothing. */
void tracker_watch_memory(struct tracker *t, uint64_t bytes);
/* From now on the exact peak, and what each address space held then, does not change. */
void tracker_freeze_peak(struct tracker *t);

/* Looks for processes whose birth was missed. 0, or a negative errno. */
int tracker_adopt(struct tracker *t);
/* Reads the record so far of the process @pid. -ESRCH: no such process is followed. */
int tracker_find(struct tracker *t, pid_t pid, struct process_record *r);
/*
 * Moves the process @pid, with what it uses from now on, to the account @to, which is made if it is
 * new; only with can_move in the options. Its children so far stay in their account. -ESRCH: no
 * such process is followed; -ENOSPC: there is no room for another account.
 */
int tracker_move(struct tracker *t, pid_t pid, const struct account_key *to);
/*
 * The same for a process that is launched or attached to, as @flags (enum process_flag) has it: its
 * record begins anew.
 */
int tracker_move_anew(struct tracker *t, pid_t pid, const struct account_key *to, uint32_t flags);
/*
 * From now on each process of the accounts of @tree (0: each that is followed, unless with
 * whole_node) gets SIGKILL when it makes a system call, so that none of them makes another one;
 * @uid: only those that this user may signal, or END_ANY. Harmless to repeat. A negative errno:
 * -EOPNOTSUPP where the source or the kernel has no program for it.
 */
int tracker_end(struct tracker *t, uint64_t tree, uint32_t uid);
/* No longer. Harmless for a tree that is not ended. */
void tracker_end_over(struct tracker *t, uint64_t tree);
/*
 * Closes the account @from: calls @record for each process that it still has, and moves it to the
 * account @to. Its totals do not change any more: they are the sum of its records, those in the
 * ring buffer included. How many it has moved, or a negative errno; -EAGAIN: a process is ending on
 * another CPU just now, and its record is not in the ring buffer yet: call this again.
 */
int tracker_retire(struct tracker *t, const struct account_key *from, const struct account_key *to,
		   void (*record)(void *context, const struct process_record *r), void *context);

/*
 * Removes an account all of whose processes have been freed, which makes room for another one;
 * @total is what it had. -ENOENT: there is none.
 */
int tracker_remove_account(struct tracker *t, const struct account_key *key, struct account *total);

typedef int (*event_fn)(void *context, void *event, size_t size);
/* From now on tracker_consume() calls @fn for each event. 0, or a negative errno. */
int tracker_listen(struct tracker *t, event_fn fn, void *context);
void tracker_consume(struct tracker *t);
/* A descriptor that becomes readable when there are events; -1: they come with drains. */
int tracker_events_fd(const struct tracker *t);

/* Calls @fn for each process that is in the map. */
int tracker_each_process(struct tracker *t, void (*fn)(void *, const struct process_record *),
			 void *context);

/*
 * Reads the record so far of the process of @row: its counters are those of its last commits.
 * @threads (NULL: not wanted): those that it has now. -ENOENT: it has been freed since.
 */
int tracker_process(const struct tracker *t, const struct drain_row *row, struct process_record *r,
		    unsigned *threads);

/* What the packets of @wire_cgroup have weighed so far. -ENODATA: they are not counted; or
 * another negative errno. */
int tracker_wire(const struct tracker *t, struct wire_counters *sum);

/* With exact_peak: the tree's. -ENODATA: it is not measured. */
int tracker_peak(const struct tracker *t, struct tree_peak *peak);
/* Calls @fn for each address space that is still in the map, after tracker_freeze_peak(). */
void tracker_each_mm(const struct tracker *t,
		     void (*fn)(void *, uint64_t mm, const struct mm_entry *), void *context);

/* Counts the block I/O of the cgroup @id of the io controller's hierarchy, and of those below it,
 * from now on; 0: of none. Not of a whole node, where all are counted. */
void tracker_block_follow(struct tracker *t, uint64_t id);
/* Calls @fn for each count of block I/O. 0 or a negative errno. */
int tracker_each_block(const struct tracker *t,
		       void (*fn)(void *context, const struct block_key *key,
				  const struct block_count *count),
		       void *context);
/* Removes a count, of a cgroup that is gone. */
void tracker_block_remove(const struct tracker *t, const struct block_key *key);
/* Requests that were not counted: for lack of room, or because the hook missed them. */
uint64_t tracker_blocks_lost(const struct tracker *t);

/* Bytes of kernel memory that the maps hold now, as the kernel reports them. */
uint64_t tracker_map_bytes(const struct tracker *t);
unsigned tracker_max_tasks(const struct tracker *t);

/* Calls on sockets to whose peer there was no room. */
uint64_t tracker_peers_lost(const struct tracker *t);
/* Calls @fn with the struct socket_row of each live TCP socket. -ENODATA: they are not known; or a
 * negative errno. */
int tracker_each_socket(struct tracker *t, void (*fn)(void *context, const void *row),
			void *context);
/* Live TCP sockets that there was no room for. */
uint64_t tracker_sockets_lost(const struct tracker *t);

#endif
