/* SPDX-License-Identifier: BSD-2-Clause */
/* The interface between the BPF programs and the collector: map values, events and limits. */
#ifndef BPFMON_SHARED_H
#define BPFMON_SHARED_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#include <linux/types.h>
#endif

#include "bpfmon/calls.h"

#define COMM_BYTES 16
#define PATH_BYTES 1024    /* path components of an executable, each ended by NUL */
#define PATH_COMPONENTS 40 /* most components of a path; a deeper one is cut (EXEC_PATH_CUT) */
#define ARGS_BYTES 2048    /* longest command line; a longer one is cut (EXEC_ARGS_CUT) */
#define MAX_CPUS 1024      /* most CPUs whose per-CPU memory counters are summed */

/* Bit numbers of the TASK_METRICs in the mask `wanted`. */
enum task_counter {
#define TASK_METRIC(base, ...) TC_##base,
#include "bpfmon/metrics.def"
	NR_TASK_COUNTERS
};

/* Mask of the counters that the kernel keeps in task_delay_info. */
enum {
	/* clang-format off */
	DELAY_COUNTERS = 0
#define DELAY_METRIC(base, ...) | 1U << TC_##base
#include "bpfmon/metrics.def"
	/* clang-format on */
};

/* Counters of a task as the kernel keeps them, or their sum over the tasks of a process. */
struct task_counters {
#define TASK_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
	__u64 utime; /* tick-based times in ns: only their ratio is used */
	__u64 stime;
	__u32 without_delays; /* 1 if the kernel keeps no delays for the task */
	__u32 blkio_wrong;    /* 1 if the kernel's blkio_delay of the task is impossible */
};

/* Kinds of losses. Their number must be a power of two. Any loss makes the run incomplete. */
enum loss {
	LOSS_TASKS_FULL,     /* tasks that did not fit into their map */
	LOSS_PROCESSES_FULL, /* processes that did not fit into their map */
	LOSS_ACCOUNTS, /* updates dropped: no room for the account, or the process kept moving */
	LOSS_RECORDS,  /* process records that did not fit into the ring */
	LOSS_EXECS,    /* exec events that did not fit into the ring */
	LOSS_OOM,      /* OOM events that did not fit into the ring */
	LOSS_MMS,      /* address spaces that did not fit into their map */
	LOSS_STALE,    /* tasks whose free event was missed, and with it their last usage */
	NR_LOSSES
};

/* Totals of an account. They only grow, except the gauges of ACCOUNT_METRIC. */
struct account {
#define TASK_METRIC(base, ...) __u64 base;
#define SPLIT_METRIC(base, ...) __u64 base;
#define ACCOUNT_METRIC(base, ...) __u64 base;
#include "bpfmon/metrics.def"
	struct call_counters calls;
	__u64 roots;     /* processes that were launched or attached, not forked in it */
	__u64 left;      /* processes that were moved out of the cgroup */
	__u64 moved_in;  /* processes moved in from another account */
	__u64 moved_out; /* processes moved out to another account */
	/* tasks without delays; if any, the delays of the account are unknown */
	__u64 without_delays;
	/* tasks with an impossible blkio_delay; if any, the account's is unknown */
	__u64 blkio_wrong;
	__u64 loss[NR_LOSSES];
	/* 0 if open; else ACCOUNT_CLOSED | the tree that gets tasks born or found later */
	__u64 closed;
};

#define ACCOUNT_CLOSED (1ULL << 63)

/* Each task is in exactly one account: that of its innermost tree and cgroup (0: any). */
struct account_key {
	__u64 tree;
	__u64 cgroup;
};

struct task_entry {
	__u64 task;     /* the key; 0 once the entry is closed */
	__u64 process;  /* key of its process_entry */
	__u64 serial;   /* serial of that process_entry, as the key may be reused */
	__u64 start_ns; /* CLOCK_MONOTONIC; a mismatch shows that the pointer was reused */
	__u32 tid;
	__u8 exited;
	__u8 final; /* everything was committed after its death, off the CPU */
	__u8 late;  /* adopted, and no birth hook has run for it since */
	__u8 pad;
	/*
	 * Last drain that visited the task: number * 2, or number * 2 + 1 if the task was born
	 * during it; MET_AND_REMOVED once deleted.
	 */
	__u64 met;
	struct account_key account; /* account at the last commit; later losses go there */
	struct task_counters last;  /* counters at the last commit */
};

enum process_flag {
	PROCESS_ENDED = 1 << 0,      /* its last thread has exited */
	PROCESS_END_UNSEEN = 1 << 1, /* the exit event was missed: the end time is unknown */
	/* rss_peak_pages may be the peak of an earlier image */
	PROCESS_PEAK_UPPER_BOUND = 1 << 2,
	PROCESS_IMAGE_UNKNOWN = 1 << 3, /* an exec event was missed */
	PROCESS_LATE = 1 << 4,          /* adopted after its birth was missed */
	PROCESS_ROOT = 1 << 5,          /* launched or attached, not forked by a tracked process */
	PROCESS_SEEDED = 1 << 6,        /* ran before the attach: only later usage counts */
	PROCESS_LEFT = 1 << 7, /* moved out of the cgroup: usage after that does not count */
	/* being moved into the cgroup: if there is no room now, a later pass finds it */
	PROCESS_MOVED = 1 << 8,
	PROCESS_SHARES = 1 << 9, /* still uses the address space of its creator, as after vfork */
	/* launched by bpfmon: usage before its exec is not the command's */
	PROCESS_LAUNCHED = 1 << 10,
	PROCESS_WITHOUT_DELAYS = 1 << 11, /* the kernel keeps no delays for one of its tasks */
	/* procfs source: the end was reported, but no usage could be read */
	PROCESS_UNREAD = 1 << 12,
	/* the kernel's blkio_delay of one of its tasks is impossible */
	PROCESS_BLKIO_WRONG = 1 << 13,
};

/* Set in process_record.state if the state was read; no state of interest has this bit. */
#define STATE_READ 0x4000

/* Record of a process (thread group), emitted when its last task is freed. */
struct process_record {
	__u64 signal; /* key of the entry; 0 until the entry is filled in */
	__u64 serial; /* unique in a run */
	__u64 image;  /* serial of its last exec, inherited by fork; 0 if unknown */
	__u64 start_boot_ns;
	__u64 end_boot_ns;      /* time of exit, or of leaving the cgroup; 0 if alive or unknown */
	__u64 joined_boot_ns;   /* usage before this time does not count; 0 if all counts */
	__u64 released_boot_ns; /* time at which its memory was freed; 0 if it may hold some */
	__u64 mm;               /* address space used last */
	__u64 rss_peak_pages;
	__u64 unsure_pages; /* upper bound of the peak before the first exec; 0 if known */
	/* upper bound of the peak over all images, the one inherited by fork included */
	__u64 rss_bound_pages;
	__u64 share_pages; /* pages held at the tree's peak number @share_epoch */
	__u64 share_epoch;
	__u64 user; /* user and system: shares of counters.cpu, in ns */
	__u64 system;
	__u64 lifetime; /* ns, summed over all threads, up to process_entry.lived_ns */
	/* procfs source: CPU time in ns of reaped children that have no record of their own. */
	__u64 children_ns;
	struct account_key account;
	struct task_counters counters;
	__u32 pid; /* in the collector's PID namespace; 0 if not visible there */
	__u32 ns_pid, ppid, uid;
	__u32 tgid;      /* in the initial PID namespace */
	__u16 mark_fell; /* 1 if the kernel's mark is too low, and so are peak and bound */
	__u16 state; /* when its account was closed: STATE_READ | __state | exit_state; else 0 */
	__u32 wait_status; /* as returned by wait(2) */
	__u32 threads_total;
	__u32 execs;
	__u32 flags; /* enum process_flag */
	char comm[COMM_BYTES];
	struct call_counters calls; /* emitted only with want_calls */
};

enum event_kind {
	EVENT_PROCESS = 1,
	EVENT_EXEC = 2,
	EVENT_OOM = 3,
	EVENT_TARGET = 4,
	EVENT_EMPTY = 5, /* the last live process of an account has ended */
	/* first process launched or attached in an account; with whole_node: account made */
	EVENT_BEGUN = 6,
	EVENT_CGROUP_NEWS = 7, /* a cgroup was made or removed */
	EVENT_MEMORY = 8, /* resident memory of the tree exceeds watched_pages (--exact-peak) */
};

#define MAX_TARGETS 64      /* most processes that one attach may name */
#define MAX_OWN 4           /* most processes of bpfmon itself */
#define MAX_ACCOUNTS 4096   /* most accounts of a run */
#define NODE_ACCOUNTS 16384 /* most accounts of a node */

struct process_event {
	__u32 kind;
	__u32 pad;
	struct process_record rec;
};

/* For EVENT_EMPTY, EVENT_BEGUN, and EVENT_MEMORY (@account is 0). */
struct account_event {
	__u32 kind;
	__u32 pad;
	struct account_key account;
};

/* The largest sizes of an address space seen by drains, as the kernel's mark can be reset. */
struct seen_marks {
	__u64 mm;
	__u64 kernel_pages;  /* the kernel's high-water mark at the last read */
	__u64 largest_pages; /* the largest mark or size ever read */
};

#define INHERITED_ALL (~0ULL) /* memory is borrowed from the creator, or the birth was missed */

struct process_entry {
	struct bpf_spin_lock lock; /* guards the rest, and the task_entries of the process */
	__u32 tasks;               /* task entries that are not closed */
	__u32 epoch;               /* last drain that wrote a complete row */
	__u32 blank_epoch;         /* last drain that wrote a row from a task without memory */
	__u32 exec_id;             /* task_struct.self_exec_id when last read */
	__u32 is_closing;          /* its record is being emitted, which happens once */
	__u32 alive_tasks;         /* task entries of tasks that have not exited */
	__u64 lived_ns;     /* CLOCK_MONOTONIC up to which the lifetimes of threads are counted */
	__u64 lived_before; /* ns to add at the next commit: lifetimes of new threads so far */
	__u32 mark_noted;   /* the high-water mark of the last image is in the record */
	__u32 final_tasks;  /* task entries with nothing left to commit */
	__u64 mm, mm_id;    /* key and id of its mm_entry (--exact-peak) */
	/* signal->maxrss (pages) at the last exec, for kernels without mm at exit */
	__u64 maxrss_at_exec;
	__u64 inherited_pages;      /* pages copied from its creator at birth */
	struct seen_marks seen;     /* marks of its current address space */
	struct process_event event; /* its record, ready to be emitted */
};

enum exec_flag {
	EXEC_PATH_CUT = 1 << 0,
	EXEC_ARGS_CUT = 1 << 1,
	EXEC_ARGS_UNREAD = 1 << 2,
	/* real, effective and saved IDs differ: it runs with other rights */
	EXEC_MIXED_IDS = 1 << 3,
};

/* Emitted at exec. @text holds the components of the path, leaf first, then the arguments. */
struct exec_event {
	__u32 kind;
	__u32 flags; /* enum exec_flag */
	__u64 image;
	__u32 path_bytes;
	__u32 args_bytes;
	__u32 uid; /* real UID at the exec */
	char text[PATH_BYTES + ARGS_BYTES];
};

/* The kernel's MM_FILEPAGES etc., the same in every supported version. */
enum rss_counter { RSS_FILE, RSS_ANON, RSS_SWAP, RSS_SHMEM, NR_RSS };

/* The kernel's OOM killer has chosen @pid. */
struct oom_event {
	__u32 kind;
	__u32 pid;
	__u64 time_ns;              /* CLOCK_MONOTONIC */
	struct account_key account; /* 0 where @serial is 0 */
	/* Serial of the process; 0 if unknown: before 6.8 the kernel gives only the PID. */
	__u64 serial;
	__u64 rss_pages;
	__u64 limit_pages; /* limit of the full cgroup; 0 if the whole machine is out of memory */
	char cgroup[64];   /* last component of the path of that cgroup */
	char comm[COMM_BYTES];
};

/* in words of 8 bytes; a cgroup with a longer path is not recognized when made again */
#define TARGET_PATH_WORDS 64

enum cgroup_news {
	CGROUP_REMOVED,
	CGROUP_MADE,  /* made again under the same name */
	CGROUP_MOVES, /* the hook could not handle all moved threads */
};

#define CGROUP_PATH_BYTES 1024 /* a longer path is cut; the collector then looks it up */

/* Emitted with whole_node when a cgroup is made or removed. */
struct cgroup_name_event {
	__u32 kind;
	__u32 bytes; /* length of @path with its NUL; 0 if the cgroup was removed */
	__u64 id;
	char path[CGROUP_PATH_BYTES];
};

/* A change of the tracked cgroup. */
struct cgroup_event {
	__u32 kind;
	__u32 news;    /* enum cgroup_news */
	__u64 time_ns; /* CLOCK_MONOTONIC */
	__u64 id;
};

/*
 * Written by the drain for each process, ended ones included until they are freed. A process with
 * several tasks may have two rows: a first one from a task without memory (@mm is 0), a second one
 * from a task that still has it.
 */
struct drain_row {
	struct account_key account;
	__u64 signal; /* key of the process_entry */
	__u64 serial;
	__u64 image;
	__u64 mm;      /* 0 if the visited task has none */
	__u64 used_mm; /* address space used last, freed or not */
	__u64 pages[NR_RSS];
	__u64 hugetlb_pages; /* in units of small pages */
	__u64 page_table_bytes;
	__u64 vms_pages;
	__u64 peak_pages;                 /* peak of the current image so far */
	__u64 bound_pages;                /* upper bound of the peak over all images */
	__u64 start_boot_ns, end_boot_ns; /* @end_boot_ns is 0 while alive */
	__u64 joined_boot_ns;             /* 0 if all usage counts */
	__u64 released_boot_ns;           /* 0 if it may hold memory */
	__u32 pid;
	__u32 flags; /* enum row_flag */
};

/*
 * State of a pass over a map by a program that the collector runs. To keep each run short, a run
 * ends when there is no room for further rows. The collector takes the rows and runs the program
 * again, until a run was not cut.
 */
struct pass {
	/* further runs of the same pass skip elements that are marked with this number */
	__u64 number;
	__u32 met;    /* elements visited in this run */
	__u32 rows;   /* rows written in this run */
	__u32 is_cut; /* this run ended before the end of the map */
	__u32 pad;
};

#define END_ANY (~0U) /* value of `ending`: end processes of any user */

#define MET_AND_REMOVED (~0ULL)
#define RETIRED_ROWS 64 /* rows of one run of the pass that closes an account */

enum row_flag {
	ROW_ALIVE = 1 << 0,     /* at least one of its threads has not begun to exit */
	ROW_MARK_FELL = 1 << 1, /* the peak and the bound are too low */
	ROW_SHARES = 1 << 2,    /* PROCESS_SHARES */
};

/*
 * Resident pages of an address space, updated by each event (--exact-peak). @at_peak is what it
 * held at the tree's peak number @epoch. If the tree has a newer peak, the entry has not changed
 * since: it held @pages then.
 */
struct mm_entry {
	__u64 mm;      /* the key; 0 once its pages are freed */
	__u64 id;      /* unique, as the key may be reused */
	__u64 version; /* changes whenever @pages is set */
	__u64 pages;
	__u64 at_peak;
	__u64 epoch;
	__u64 owner;  /* key of the process that first used it, or was the last to leave it */
	__u64 serial; /* serial of that process */
	__u32 users;  /* processes; 0 if all have exited and it is being torn down */
	__u32 pad;
	__s64 central[NR_RSS]; /* central parts of the kernel's counters at the last sum */
};

struct tree_peak {
	struct bpf_spin_lock lock; /* guards the rest, and the values of all mm_entries */
	__u32 pad;
	__u64 pages; /* held now */
	__u64 peak_pages;
	__u64 peak_ns; /* CLOCK_MONOTONIC */
	__u64 epoch;   /* number of times the peak has risen */
	__u64 sets;    /* number of times an entry was set */
};

/*
 * tracking.tasks packs three numbers, so that one atomic addition updates them together: the tasks
 * in the map, and how many of them were visited by, or born during, the last drain with an even and
 * with an odd number.
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
	__u64 adopted_late;   /* tasks adopted after their birth was missed */
	__u64 ends_unseen;    /* missed exit events */
	__u64 images_unseen;  /* missed exec events, noticed by the kernel's exec counter */
	__u64 frees_unseen;   /* missed free events with nothing left to count */
	__u64 seeded;         /* tasks that existed when they were attached or moved in */
	__u64 births_ignored; /* births ignored at both hooks by --inject-misses */
	__u64 moved_in;       /* tasks moved into the tracked cgroup */
	__u64 moved_out;
	/* of the moved and seeded tasks: those handled by the hook of the move */
	__u64 moves_seen;
	__u64 moves_running; /* of these: tasks that were running or runnable */
	__u64 moves_unseen;  /* moves whose threads the hook could not all handle */
};

/* Request to find a process, and to move it to another account. */
struct move_request {
	struct account_key to;
	__u64 signal, serial; /* set when the process is found */
	__u32 pid;            /* in the collector's PID namespace */
	__u32 is_question;    /* 1: only find it */
	/* Flags of a process that is launched or attached, whose record then restarts; or 0. */
	__u32 flags;
	__s32 result; /* 0, or a negative errno */
};

/* Request to move all processes of an account to another one and write their records so far. */
struct retire_request {
	struct account_key from, to;
	__u64 closing; /* processes whose record another CPU is about to emit */
};

/* Block I/O by cgroup, device and direction. */
#define BLOCK_BUCKETS 40    /* latency histogram: bucket i counts 2^i ns <= latency < 2^(i+1) ns */
#define BLOCK_MINOR_BITS 20 /* block_key.device is major << BLOCK_MINOR_BITS | minor */
#define DISK_BYTES 32
#define MAX_BLOCKS 16384 /* cgroup, device and direction; entries are allocated on first use */

enum block_direction { BLOCK_READ, BLOCK_WRITE, BLOCK_DISCARD, BLOCK_FLUSH, NR_BLOCK_DIRECTIONS };

struct block_key {
	__u64 cgroup; /* with whole_node; else 0: the tracked cgroup and its descendants */
	__u32 device;
	__u32 direction;
};

struct block_count {
	__u64 bytes;
	__u64 ops;
	__u64 unsized;    /* ops whose bytes are unknown and not counted */
	__u64 timed;      /* ops with a latency */
	__u64 latency_ns; /* sum over these */
	__u64 buckets[BLOCK_BUCKETS];
	char disk[DISK_BYTES];
};

#endif
