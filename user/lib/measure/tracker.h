/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The kernel side, or /proc without BPF: loads the programs, makes them track processes, and drains
 * their maps.
 */
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
struct kept;
struct bpf_link;
struct ring_buffer;

struct tracker_options {
	struct metric_set wanted;
	bool no_args;
	bool exact_peak;  /* track each change of resident memory */
	bool net_peers;   /* with socket metrics: bytes by peer, of one run */
	bool want_memory; /* read memory of processes even if no metric of it is wanted */
	bool can_seed;    /* tracker_seed() will be called */
	bool can_move;    /* tracker_move() will be called */
	bool may_end;     /* tracker_kill_start() may be called */
	const struct cgroup_target *cgroup; /* not owned; NULL: membership by lineage */
	/* path of the v2 cgroup whose packets are counted; not owned; may be NULL */
	const char *wire_cgroup;
	bool whole_node;      /* track all tasks by cgroup; @cgroup is the root of the hierarchy */
	bool only_runs;       /* with whole_node: drains skip what is in no run */
	bool verbose;         /* print to stderr why a program does not load */
	pid_t proc_launcher;  /* use /proc for the children of this process; 0: use BPF */
	uint64_t interval_ns; /* between drains */
	unsigned max_tasks;   /* map entries; 0: the default */
	unsigned inject_misses;      /* thousandths of events to ignore, for tests */
	unsigned inject_free_misses; /* the same for the last events of tasks */
	bool all_types;              /* relocate with the kernel's full BTF, for tests */
	unsigned rows; /* rows per run of the drain program; 0: the default; for tests */
	struct refusals refusals;
	/* books to take over; not owned; NULL: load new ones */
	const struct kept *kept;
};

struct tracker {
	/* owned; NULL: the source is BPF, and most of the rest is for that */
	struct proc_source *proc;
	struct bpfmon *skel; /* owned */
	struct bpf_link *adopt_link;
	struct walker drain, retire;
	struct ring_buffer *ring; /* owned */
	struct optionals optional;
	int *kept_links; /* owned, as the descriptors; of hooks attached by another process */
	size_t nr_kept_links;
	struct accounts accounts;         /* last read */
	struct account removed;           /* sum of those no longer in the map */
	struct metric_set usable;         /* of those wanted */
	const char *unusable[NR_METRICS]; /* reasons; not owned */
	uint64_t misses;                  /* events missed by hooks, last read */
	uint64_t repaired_ns;             /* CLOCK_MONOTONIC of the last reading of misses */
	uint64_t newtask_missed;
	uint64_t births_unreported; /* kernel's forks less births seen, at the start */
	bool knows_births;
	uint64_t births_missed; /* missed by both hooks; a bound before settling */
	uint64_t drains, drain_ns_total, drain_ns_max;
	uint64_t began_ns;       /* CLOCK_MONOTONIC before the last drain met its first task */
	uint64_t seed_ns;        /* duration of tracker_seed() */
	uint64_t seeded_ns;      /* CLOCK_MONOTONIC of its end */
	uint64_t seeded_sockets; /* number of seeded tasks at the last socket seeding */
	uint64_t moves_unseen;   /* last read */
	uint64_t moves_missed;
	bool adopts_always; /* misses are injected, which the kernel does not count */
};

/*
 * Opens, loads and attaches. Returns 0, or a negative errno with advice in @why, without a full
 * stop. -ESTALE: the programs differ from those of @o->kept.
 */
int tracker_open(struct tracker *t, const struct tracker_options *o, char *why, size_t why_size);
void tracker_close(struct tracker *t);

/* Makes @pid the root. Returns 0, or -ESRCH if there is no such process. */
int tracker_follow(struct tracker *t, pid_t pid);

/*
 * Tracks the @nr processes of @pids and their descendants, excluding prior usage. Returns 0 also if
 * none exists.
 */
int tracker_seed(struct tracker *t, const pid_t *pids, size_t nr);
/* With whole_node: adopts all running tasks, excluding prior usage. */
int tracker_seed_node(struct tracker *t);
/*
 * Adopts the processes in the cgroup @id, which is that of the options or its successor, except
 * bpfmon's own PIDs in @own (ends with 0). @depth: 1 is the root cgroup, 0 unknown.
 */
int tracker_seed_cgroup(struct tracker *t, uint64_t id, unsigned depth, const pid_t *own);
/* Adopts new processes in that cgroup, excluding prior usage. */
int tracker_seed_again(struct tracker *t);
/* Finds the existing sockets of processes seeded since the last call. */
int tracker_seed_sockets(struct tracker *t);
/* Sets the prior usage of the processes that tracker_seed() found. */
void tracker_baseline(const struct tracker *t, uint64_t *values, struct metric_set *have);

/* With /proc: takes the totals of what the launcher has reaped. */
void tracker_note_reaped(struct tracker *t, const struct reaped *r);
/* With /proc: returns CPU time that is in no account, neither user nor system time. */
uint64_t tracker_unsplit(const struct tracker *t);
/* Returns true if seeding found a running task. */
bool tracker_has_found(const struct tracker *t);
/* Returns true outside the initial PID namespace, where task iterators see only bpfmon's own. */
bool tracker_is_in_a_pid_namespace(const struct tracker *t);

typedef void (*drain_fn)(void *context, const struct drain_row *row);
/*
 * Commits what each tracked task has used, and calls @row for each live process. Repairs missed
 * events before: births always, others once a second. Returns 0 or a negative errno.
 */
int tracker_drain(struct tracker *t, drain_fn row, void *context);
/* Returns true for /proc: births and ends between two drains must be looked for. */
bool tracker_needs_looks(const struct tracker *t);
/* Looks for births and ends in /proc. Returns the time until the next look in ns. */
uint64_t tracker_look(struct tracker *t);
/* For /proc: see measure/proc_source.h. */
int tracker_births_fd(const struct tracker *t);
uint64_t tracker_births_lost(const struct tracker *t);
const char *tracker_births_missing(const struct tracker *t);
/* Returns 0 if this process has the rights to drain, else a negative errno. Does not drain. */
int tracker_may_drain(const struct tracker *t);
/* Makes another pass for what the drain missed; skips processes already reported. */
int tracker_drain_again(struct tracker *t, drain_fn row, void *context);
/* Returns true if the last pass met all tasks born before it began. */
bool tracker_visited_all(const struct tracker *t);
/* Returns true if rows contain memory. */
bool tracker_reads_memory(const struct tracker *t);
/*
 * Repeats passes until all these tasks are met, because a walk over the map may miss one under
 * churn.
 */
int tracker_drain_whole(struct tracker *t, drain_fn row, void *context);
void tracker_read_accounts(struct tracker *t);
/* Reads the sum of all accounts, including removed ones. */
void tracker_totals(struct tracker *t, struct account *totals);
const struct tracking *tracker_tracking(const struct tracker *t);
/* Returns the number of missed events that were repaired. */
uint64_t tracker_repaired(const struct tracker *t);
/*
 * Returns an upper bound of missed births that were not repaired; unrelated ones may be included.
 */
uint64_t tracker_unrepaired(const struct tracker *t);

/*
 * Returns the socket events missed on the whole machine; with any, socket counters are lower
 * bounds.
 */
uint64_t tracker_socket_misses(const struct tracker *t);

/* Computes the number of missed births; before, only an upper bound is known. */
void tracker_settle_births(struct tracker *t);
/* With exact_peak: reports once when the tree holds more than @bytes; 0: never. */
void tracker_watch_memory(struct tracker *t, uint64_t bytes);
/* Freezes the exact peak and what each address space held at it. */
void tracker_freeze_peak(struct tracker *t);

/* Looks for processes whose birth was missed. Returns 0 or a negative errno. */
int tracker_adopt(struct tracker *t);
/* Reads the present record of @pid. Returns -ESRCH if it is not tracked. */
int tracker_find(struct tracker *t, pid_t pid, struct process_record *r);
/*
 * Moves @pid, with its usage from now on, to the account @to, which is created if needed. Existing
 * children stay. Needs can_move. Returns -ESRCH if it is not tracked, -ENOSPC without room for an
 * account.
 */
int tracker_move(struct tracker *t, pid_t pid, const struct account_key *to);
/*
 * Moves a process that is launched or attached to, according to @flags (enum process_flag). Its
 * record begins anew. Returns as tracker_move().
 */
int tracker_move_anew(struct tracker *t, pid_t pid, const struct account_key *to, uint32_t flags);
/*
 * Kills processes of @tree (0: all tracked ones; not with whole_node) at their next system call, so
 * that none creates another. @uid: only those which that user may signal, or END_ANY. May be
 * repeated. Returns -EOPNOTSUPP if source or kernel lack the program, or another negative errno.
 */
int tracker_kill_start(struct tracker *t, uint64_t tree, uint32_t uid);
/* Stops killing processes of @tree. May be called for any tree. */
void tracker_kill_stop(struct tracker *t, uint64_t tree);
/*
 * Closes the account @from: moves each live process to @to and calls @record for it. Afterwards the
 * totals of @from are final: the sum of its records, including those in the ring buffer. Returns
 * the number of moved processes, or a negative errno; -EAGAIN if a process is ending on another CPU
 * whose record is not in the ring buffer yet: call again.
 */
int tracker_retire(struct tracker *t, const struct account_key *from, const struct account_key *to,
		   void (*record)(void *context, const struct process_record *r), void *context);

/*
 * Removes an account whose processes have all been freed; @total is what it had. Returns -ENOENT if
 * there is none.
 */
int tracker_remove_account(struct tracker *t, const struct account_key *key, struct account *total);

typedef int (*event_fn)(void *context, void *event, size_t size);
/* Makes tracker_consume() call @fn for each event. Returns 0 or a negative errno. */
int tracker_listen(struct tracker *t, event_fn fn, void *context);
void tracker_consume(struct tracker *t);
/* Returns a descriptor that is readable when there are events; -1: they come with drains. */
int tracker_events_fd(const struct tracker *t);

/* Calls @fn for each process in the map. */
int tracker_each_process(struct tracker *t, void (*fn)(void *, const struct process_record *),
			 void *context);

/*
 * Reads the record of the process of @row, with counters as of its last commits, and in @threads
 * (may be NULL) its live threads. Returns -ENOENT if it was freed since.
 */
int tracker_process(const struct tracker *t, const struct drain_row *row, struct process_record *r,
		    unsigned *threads);

/*
 * Reads the packet counters of @wire_cgroup. Returns -ENODATA if they are not counted, or another
 * negative errno.
 */
int tracker_wire(const struct tracker *t, struct wire_counters *sum);

/* Reads the exact peak. Returns -ENODATA if it is not measured. */
int tracker_peak(const struct tracker *t, struct tree_peak *peak);
/* Calls @fn for each address space in the map. Call after tracker_freeze_peak(). */
void tracker_each_mm(const struct tracker *t,
		     void (*fn)(void *, uint64_t mm, const struct mm_entry *), void *context);

/*
 * Counts block I/O of the cgroup @id (in the hierarchy of the io controller) and those below from
 * now on; 0: none. A whole node counts all cgroups.
 */
void tracker_block_follow(struct tracker *t, uint64_t id);
/* Calls @fn for each count of block I/O. Returns 0 or a negative errno. */
int tracker_each_block(const struct tracker *t,
		       void (*fn)(void *context, const struct block_key *key,
				  const struct block_count *count),
		       void *context);
void tracker_block_remove(const struct tracker *t, const struct block_key *key);
/* Returns the block requests not counted, for lack of room or because the hook missed them. */
uint64_t tracker_blocks_lost(const struct tracker *t);

/* Returns the kernel memory of the maps in bytes. */
uint64_t tracker_map_bytes(const struct tracker *t);
unsigned tracker_max_tasks(const struct tracker *t);

/* Returns the socket calls not counted because there was no room for the peer. */
uint64_t tracker_peers_lost(const struct tracker *t);
/*
 * Calls @fn with the struct socket_row of each live TCP socket. Returns -ENODATA if they are not
 * known, or another negative errno.
 */
int tracker_each_socket(struct tracker *t, void (*fn)(void *context, const void *row),
			void *context);
/* Returns the live TCP sockets for which there was no room. */
uint64_t tracker_sockets_lost(const struct tracker *t);

#endif
