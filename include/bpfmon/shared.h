/* SPDX-License-Identifier: BSD-2-Clause */
/* What crosses the boundary between the programs in the kernel and the collector. */
#ifndef BPFMON_SHARED_H
#define BPFMON_SHARED_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#include <linux/types.h>
#endif

#include "bpfmon/calls.h"

#define COMM_BYTES 16
#define PATH_BYTES 1024    /* components of an executable's path, each ended by NUL */
#define PATH_COMPONENTS 40 /* a deeper path is cut: EXEC_PATH_CUT */
#define ARGS_BYTES 2048    /* of a command line; a longer one is cut: EXEC_ARGS_CUT */
#define MAX_CPUS 1024      /* CPUs over which memory counters are summed */

/* Bit of each TASK_METRIC in the mask of wanted counters. */
enum task_counter {
#define TASK_METRIC(base, ...) TC_##base,
#include "bpfmon/metrics.def"
	NR_TASK_COUNTERS
};

/* Those that are in its task_delay_info. */
enum {
	/* clang-format off */
	DELAY_COUNTERS = 0
#define DELAY_METRIC(base, ...) | 1U << TC_##base
#include "bpfmon/metrics.def"
	/* clang-format on */
};

/* What the kernel counts for a task; and, in a process, the sum over its tasks. */
struct task_counters {
#define TASK_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
	__u64 utime; /* raw ticks in ns: only their ratio is used */
	__u64 stime;
	__u32 without_delays; /* 1: the kernel does not keep those of this task */
	__u32 blkio_wrong;    /* 1: its blkio_delay cannot be true */
};

/* Losses, by operation; their number is a power of two. A loss makes the run incomplete. */
enum loss {
	LOSS_TASKS_FULL,     /* a task that did not fit into its map */
	LOSS_PROCESSES_FULL, /* a process that did not */
	LOSS_ACCOUNTS, /* updates: no room for an account, or it changed too often meanwhile */
	LOSS_RECORDS,  /* process records that did not fit into the ring */
	LOSS_EXECS,    /* exec events that did not */
	LOSS_OOM,      /* OOM events that did not */
	LOSS_MMS,      /* address spaces that did not fit into their map */
	LOSS_STALE,    /* tasks of which the free event, and what they used last, was missed */
	NR_LOSSES
};

/* The totals of an account: they only grow (except for gauges of ACCOUNT_METRIC). */
struct account {
#define TASK_METRIC(base, ...) __u64 base;
#define SPLIT_METRIC(base, ...) __u64 base;
#define ACCOUNT_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
	struct call_counters calls;
	__u64 roots;          /* processes that were not born into it: launched or attached */
	__u64 left;           /* processes that were moved out of the cgroup */
	__u64 moved_in;       /* processes, from another account */
	__u64 moved_out;      /* processes, to another account */
	__u64 without_delays; /* its delays are not known: it has had a task that has none */
	__u64 blkio_wrong;    /* nor is its blkio_delay: that of a task cannot be true */
	__u64 loss[NR_LOSSES];
	__u64 closed; /* ACCOUNT_CLOSED, and the tree that gets what is born or found from then on
		       */
};

#define ACCOUNT_CLOSED (1ULL << 63)

/* A task is in exactly one account: that of its innermost tree, and cgroup (0: any). */
struct account_key {
	__u64 tree;
	__u64 cgroup;
};

struct task_entry {
	__u64 task;     /* the key again; 0 from the moment it is closed */
	__u64 process;  /* key of its process_entry */
	__u64 serial;   /* of that process: the key may be in use again */
	__u64 start_ns; /* CLOCK_MONOTONIC; detects a reused pointer */
	__u32 tid;
	__u8 exited;
	__u8 final; /* all is committed: it was dead and off the CPU by then */
	__u8 late;  /* adopted, and its birth has not been seen since */
	__u8 pad;
	__u32 final_s; /* CLOCK_BOOTTIME in s, when that was found */
	__u32 pad2;
	__u64 met; /* twice the number of the pass that met it last, or 1 more: it was born during
		      that pass; MET_AND_REMOVED */
	struct account_key account; /* as of the last commit: of what is lost after it */
	struct task_counters last;  /* what was committed to the account so far */
};

enum process_flag {
	PROCESS_ENDED = 1 << 0,      /* its last thread has exited */
	PROCESS_END_UNSEEN = 1 << 1, /* the exit event was missed: the end time is not known */
	PROCESS_PEAK_UPPER_BOUND = 1 << 2, /* the peak may be that of an earlier image */
	PROCESS_IMAGE_UNKNOWN = 1 << 3,    /* an exec event was missed */
	PROCESS_LATE = 1 << 4,             /* adopted after its birth */
	PROCESS_ROOT = 1 << 5,             /* launched or attached, not born into the tree */
	PROCESS_SEEDED = 1 << 6, /* had run before it was attached to: counted from then on */
	PROCESS_LEFT = 1 << 7,   /* was moved out of the cgroup: counted until then */
	PROCESS_MOVED = 1 << 8,  /* is being moved in: if there is no room now, it is found later */
	PROCESS_SHARES = 1 << 9, /* born into its creator's address space, which it still uses */
	PROCESS_LAUNCHED =
		1 << 10, /* by bpfmon: what it does before its exec is not the command's */
	PROCESS_WITHOUT_DELAYS = 1 << 11, /* the kernel does not keep those of a task of it */
	PROCESS_UNREAD = 1 << 12, /* without BPF: it was reported and not read; no usage is known */
	PROCESS_BLKIO_WRONG = 1 << 13,    /* the kernel's blkio_delay of a task cannot be true */
};

#define STATE_READ 0x4000 /* a bit of process_record.state: the kernel's is of no interest */

/* The record of a process (thread group), sent when its last task is freed. */
struct process_record {
	__u64 signal; /* the key again; 0 until the entry is filled in */
	__u64 serial; /* unique in a run */
	__u64 image;  /* serial of the exec it runs, inherited over fork; 0: unknown */
	__u64 start_boot_ns;
	__u64 end_boot_ns;      /* or when it left; 0: alive, or not seen */
	__u64 joined_boot_ns;   /* what it used before does not count; 0: all counts */
	__u64 released_boot_ns; /* when its memory had been freed; 0: it may hold some */
	__u64 mm;               /* the address space it used last */
	__u64 rss_peak_pages;
	__u64 unsure_pages;    /* its peak before its first exec may be so high; 0: known */
	__u64 rss_bound_pages; /* rss_peak_pages, or more in the image inherited by fork */
	__u64 share_pages;     /* what it held at the tree's peak number share_epoch */
	__u64 share_epoch;
	__u64 user; /* ns, split of counters.cpu */
	__u64 system;
	__u64 lifetime; /* ns, of all its threads, until process_entry.lived_ns */
	__u64 children_ns; /* without BPF: CPU time of children that it waited for and that have no record */
	struct account_key account;
	struct task_counters counters;
	__u32 pid; /* in the collector's PID namespace; 0: not visible there */
	__u32 ns_pid, ppid, uid;
	__u32 tgid;      /* in the initial PID namespace */
	__u16 mark_fell; /* 1: the kernel's mark was reset: peak and bound are too low */
	__u16 state; /* when its account was closed: STATE_READ | __state | exit_state; else 0 */
	__u32 wait_status; /* as wait(2) gives it */
	__u32 threads_total;
	__u32 execs;
	__u32 flags; /* enum process_flag */
	char comm[COMM_BYTES];
	struct call_counters calls; /* with want_calls; without it, it is not sent */
};

enum event_kind {
	EVENT_PROCESS = 1,
	EVENT_EXEC = 2,
	EVENT_OOM = 3,
	EVENT_TARGET = 4,
	EVENT_EMPTY = 5, /* an account has no live process any more */
	EVENT_BEGUN =
		6, /* an account has its first process, which was not born into it; or is new */
	EVENT_CGROUP_NEWS = 7, /* a cgroup has been made or removed */
	EVENT_MEMORY = 8,      /* the tree holds more than is watched for (--exact-peak) */
};

#define MAX_TARGETS 64      /* processes that one attach names */
#define MAX_OWN 4           /* processes of bpfmon itself */
#define MAX_ACCOUNTS 4096   /* of a run */
#define NODE_ACCOUNTS 16384 /* of a node */

struct process_event {
	__u32 kind;
	__u32 pad;
	struct process_record rec;
};

/* EVENT_EMPTY, EVENT_BEGUN; EVENT_MEMORY, without an account */
struct account_event {
	__u32 kind;
	__u32 pad;
	struct account_key account;
};

/* What drains have found an address space to hold: the kernel's own mark can be reset. */
struct seen_marks {
	__u64 mm;
	__u64 kernel_pages;  /* the kernel's mark, when it was last read */
	__u64 largest_pages; /* the most it was ever found to hold, or to have held */
};

#define INHERITED_ALL (~0ULL) /* it only borrows its creator's memory, or its birth was missed */

struct process_entry {
	struct bpf_spin_lock lock;  /* guards the rest, and the entries of its tasks */
	__u32 tasks;                /* entries that are not yet freed */
	__u32 epoch;                /* the drain that saw its memory last */
	__u32 blank_epoch;          /* the drain that last met a task of it without memory */
	__u32 exec_id;              /* task_struct.self_exec_id when last read */
	__u32 is_closing;           /* its record is being sent, which happens once */
	__u32 alive_tasks;          /* entries of tasks that have not exited */
	__u64 lived_ns;             /* CLOCK_MONOTONIC: their lifetimes are counted until then */
	__u64 lived_before;         /* ns, that are still to be added for threads that were added */
	__u32 mark_noted;           /* the mark of its last image is in the record */
	__u32 final_tasks;          /* of tasks: those that have nothing left to commit */
	__u64 mm, mm_id;            /* key and id of its mm_entry (--exact-peak) */
	__u64 maxrss_at_exec;       /* pages; signal->maxrss, where the mm is gone at exit */
	__u64 inherited_pages;      /* what it had from its creator at birth */
	struct seen_marks seen;     /* of the address space it uses */
	struct process_event event; /* the record, ready to be sent */
};

enum exec_flag {
	EXEC_PATH_CUT = 1 << 0,
	EXEC_ARGS_CUT = 1 << 1,
	EXEC_ARGS_UNREAD = 1 << 2,
	EXEC_MIXED_IDS = 1 << 3, /* real, effective and saved ones differ: it has other rights */
};

/* Sent at exec. @text holds the path's components, leaf first, then the arguments. */
struct exec_event {
	__u32 kind;
	__u32 flags; /* enum exec_flag */
	__u64 image;
	__u32 path_bytes;
	__u32 args_bytes;
	__u32 uid; /* of its user at that time */
	char text[PATH_BYTES + ARGS_BYTES];
};

/* The kernel's MM_FILEPAGES and so on, the same in every supported version. */
enum rss_counter { RSS_FILE, RSS_ANON, RSS_SWAP, RSS_SHMEM, NR_RSS };

/* The kernel has chosen @pid to be killed for lack of memory. */
struct oom_event {
	__u32 kind;
	__u32 pid;
	__u64 time_ns;              /* CLOCK_MONOTONIC */
	struct account_key account; /* where the serial is known */
	__u64 serial; /* of the process; 0: not known, as the kernel (before 6.8) gives only the pid
		       */
	__u64 rss_pages;
	__u64 limit_pages; /* of the cgroup that had no room left; 0: the whole machine had none */
	char cgroup[64];   /* the last part of its path */
	char comm[COMM_BYTES];
};

#define TARGET_PATH_WORDS 64 /* of 8 bytes; with a longer path a new cgroup is not recognized */

enum cgroup_news {
	CGROUP_REMOVED,
	CGROUP_MADE,  /* again, under its name */
	CGROUP_MOVES, /* the hook could not follow all threads that were moved */
};

#define CGROUP_PATH_BYTES 1024 /* a longer path is cut; the collector then looks it up */

/* With whole_node: a cgroup has been made, or removed: then without its path. */
struct cgroup_name_event {
	__u32 kind;
	__u32 bytes; /* of the path, with its NUL; 0: it is gone */
	__u64 id;
	char path[CGROUP_PATH_BYTES];
};

/* A change of the cgroup that is followed. */
struct cgroup_event {
	__u32 kind;
	__u32 news;    /* enum cgroup_news */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 id;
};

/*
 * What the drain writes for each process it meets, ended ones that are not yet freed included. A
 * process of several tasks may have two rows: one of a task that no longer had its memory (@mm is
 * 0), and one of a task that still had it.
 */
struct drain_row {
	struct account_key account;
	__u64 signal; /* its key in the map of processes */
	__u64 serial;
	__u64 image;
	__u64 mm;      /* 0: the task that was met has none (any more) */
	__u64 used_mm; /* the address space the process used last, freed or not */
	__u64 pages[NR_RSS];
	__u64 hugetlb_pages; /* of the size of small pages */
	__u64 page_table_bytes;
	__u64 vms_pages;
	__u64 peak_pages;                 /* of the image it runs, so far */
	__u64 bound_pages;                /* upper bound of what it ever held, in any image */
	__u64 start_boot_ns, end_boot_ns; /* end 0: alive */
	__u64 joined_boot_ns;             /* 0: all it used counts */
	__u64 released_boot_ns;           /* 0: it may hold memory */
	__u32 pid;
	__u32 flags; /* enum row_flag */
};

/*
 * A pass over a map, by a program that the collector runs. The kernel is kept busy for a bounded
 * time: a run ends after as many elements as there is room for rows. The collector takes the rows
 * and runs the program again, until a run was not cut.
 */
struct pass {
	__u64 number; /* what the pass of this number has met is skipped by its further runs */
	__u32 met;    /* elements, in this run */
	__u32 rows;   /* written, in this run */
	__u32 is_cut; /* this run ended before it had met all elements */
	__u32 pad;
};

#define END_ANY (~0U) /* processes of any user are ended */

#define MET_AND_REMOVED (~0ULL)
#define RETIRED_ROWS 64 /* of the pass that closes an account */

enum row_flag {
	ROW_ALIVE = 1 << 0,     /* one of its threads has not begun to exit */
	ROW_MARK_FELL = 1 << 1, /* the peak and the bound are too low */
	ROW_SHARES = 1 << 2,    /* PROCESS_SHARES */
};

/*
 * What an address space holds, followed event by event (--exact-peak). @at_peak is what it held at
 * the tree's peak number @epoch. If the tree has a newer peak, the entry has not changed since that
 * one: it held @pages then.
 */
struct mm_entry {
	__u64 mm;      /* the key again; 0: its pages have been freed */
	__u64 id;      /* unique: the key may be in use again */
	__u64 version; /* changes when pages is set */
	__u64 pages;
	__u64 at_peak;
	__u64 epoch;
	__u64 owner;  /* key of the process that made it known, or was the last to leave it */
	__u64 serial; /* of that process */
	__u32 users;  /* processes; 0: all have exited, it is being torn down */
	__u32 pad;
	__s64 central[NR_RSS]; /* the kernel's counters when last summed */
};

struct tree_peak {
	struct bpf_spin_lock lock; /* guards the rest, and what the entries hold */
	__u32 pad;
	__u64 pages; /* held now */
	__u64 peak_pages;
	__u64 peak_ns; /* CLOCK_MONOTONIC */
	__u64 epoch;   /* how often the peak has risen */
	__u64 sets;    /* how often an entry was set */
};

/*
 * tracking.tasks has three numbers, so that they change at once: the tasks in the map; and how many of
 * these the drain of an even number, and that of an odd number, has met, or were born during it.
 */
#define TASK_BITS 21
#define MAX_TASKS ((1ULL << TASK_BITS) - 1)
#define TASKS_ALL(tasks) ((tasks)&MAX_TASKS)

static inline unsigned tasks_met_shift(__u64 number)
{
	return number & 1 ? 2 * TASK_BITS : TASK_BITS;
}

static inline __u64 tasks_met(__u64 tasks, __u64 number)
{
	return tasks >> tasks_met_shift(number) & MAX_TASKS;
}

/* Losses and repairs of the whole machine. */
struct tracking {
	__u64 loss[NR_LOSSES];
	__u64 tasks;          /* see tasks_met() */
	__u64 adopted_late; /* tasks found later, as their birth was missed */
	__u64 ends_unseen;  /* exit events that were missed */
	__u64 images_unseen;  /* exec events that were missed, seen by the exec counter */
	__u64 frees_unseen;   /* free events that were missed when nothing was left to count */
	__u64 seeded;         /* tasks that existed when they were attached to or moved in */
	__u64 births_ignored; /* by --inject-misses, at both hooks */
	__u64 moved_in;       /* tasks, into the cgroup that is followed */
	__u64 moved_out;
	__u64 moves_seen;    /* of these and the seeded ones: by the hook, at the move */
	__u64 moves_running; /* of these, tasks that were running or runnable */
	__u64 moves_unseen;  /* moves of which the hook could not follow all threads */
};

/* A process that is to be moved to another account, or only to be found. */
struct move_request {
	struct account_key to;
	__u64 signal, serial; /* its key and serial, once it is found */
	__u32 pid;            /* in the collector's PID namespace */
	__u32 is_question;    /* 1: it is not moved */
	__u32 flags;  /* of a process that is launched or attached to: its record begins anew; or 0
		       */
	__s32 result; /* 0, or a negative errno */
};

/* Moves all processes of an account to another one; the record that each has so far is written. */
struct retire_request {
	struct account_key from, to;
	__u64 closing; /* processes with a record that another CPU is about to send */
};

/* Block I/O of a cgroup on a device, in one direction. */
#define BLOCK_BUCKETS 40    /* of latencies: number i has those from 2^i ns to below 2^(i+1) */
#define BLOCK_MINOR_BITS 20 /* of block_key.device: major and minor as in the kernel */
#define DISK_BYTES 32
#define MAX_BLOCKS 16384 /* of cgroup, device and direction; each is allocated when it is used */

enum block_direction { BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH, NR_BLOCK_DIRECTIONS };

struct block_key {
	__u64 cgroup; /* of a whole node; else 0: the one that is followed, and those below it */
	__u32 device;
	__u32 direction;
};

struct block_count {
	__u64 bytes;
	__u64 ops;
	__u64 unsized;    /* those of them whose bytes are not known, nor counted */
	__u64 timed;      /* those of them that have a latency */
	__u64 latency_ns; /* sum */
	__u64 buckets[BLOCK_BUCKETS];
	char disk[DISK_BYTES]; /* the device's name */
};

#endif
