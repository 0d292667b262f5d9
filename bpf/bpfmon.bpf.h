/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* What the BPF files share: knobs, and the functions through which one reaches another's maps. */
#ifndef BPFMON_BPF_H
#define BPFMON_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpfmon/shared.h"

typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

#define ESRCH 3
#define EAGAIN 11
#define EEXIST 17
#define ENOSPC 28

/* Knobs, set between open and load. */
extern const volatile __u64 wanted;             /* bit per enum task_counter */
extern const volatile bool want_memory;         /* rss, vms, swap of live processes */
extern const volatile bool want_exact_peak;     /* the tree's, event by event */
extern const volatile bool want_calls;          /* what calls move */
extern const volatile bool want_args;           /* command lines, in exec events */
extern const volatile __u32 inject_misses;      /* for tests: events to ignore, in thousandths */
extern const volatile __u32 inject_free_misses; /* the same, of the last event of a task */
extern const volatile __u32 nr_cpus;
extern const volatile bool can_seed;  /* attach to processes that run already */
extern const volatile bool by_cgroup; /* membership is decided by cgroup, not by lineage */
extern const volatile bool
	whole_node; /* all tasks are followed, each in an account of its cgroup */

/* Set by the collector while it runs. */
extern struct tracking tracking;
extern __u32 target_level;
extern __u64 seeded_at_ns;
extern bool seeding;     /* tasks met now existed before the attach: they count from now on */
extern bool misses_seen; /* events were missed: a process may have threads without entries */
extern __u64 nr_refused; /* tasks that the maps have no room for, now */
extern struct account_key root_account;
extern struct pass drain_pass;

#include "clocks.bpf.h"

/* Only the task itself adds to @now, and not to its sums; commits do these, and bring @done up to
 * it.
 */
struct call_entry {
	u64 task;     /* of a slot: its key, or 0 */
	u64 start_ns; /* of the task, as in a task_entry */
	u64 opening;  /* of connect(), until it sends a SYN: 1 + how often the task had slept */
	struct call_counters now, done;
	struct peer_key to; /* where the datagram under way goes, if the call has an address, and
			       the socket a peer; else its protocol is 0 */
};

#define add(var, n) __sync_fetch_and_add(&(var), n)

/*
 * Comparisons without a branch, after which the verifier would walk the rest of the program twice.
 * barrier_var() keeps the compiler from making a branch of them. Values are below 2^63.
 */

/* Returns 1 if @x is not 0, else 0. */
static __always_inline u64 is_set(u64 x)
{
	u64 negative = -x;

	barrier_var(negative);
	negative = (x | negative) >> 63;
	barrier_var(negative);
	return negative;
}

static __always_inline u64 is_zero(u64 x)
{
	return is_set(x) ^ 1;
}

/* Returns 1 if @a is less than @b, else 0. */
static __always_inline u64 is_less(u64 a, u64 b)
{
	u64 less = (a - b) >> 63;

	barrier_var(less);
	return less;
}

/* Returns @a if @condition is 1, and @b if it is 0. */
static __always_inline u64 value_choose(u64 condition, u64 a, u64 b)
{
	return b ^ ((a ^ b) & -condition);
}

/* Returns @a - @b, or 0 if @b is the larger one. */
static __always_inline u64 value_excess(u64 a, u64 b)
{
	return (a - b) & (is_less(a, b) - 1);
}

/*
 * Functions that are not __hidden take only numbers: the verifier then checks them once, and not
 * at each call, which keeps loading fast.
 */

/* In the order of the ladder: a file uses functions of the files above it, none of those below. */

/* maps.bpf.c */
/* The entry of the task that is at @task now. NULL: it is not followed, whatever was there before.
 */
__hidden struct task_entry *task_find(u64 task);
/* The entry of the task that began at @start_ns, which may be gone by now. */
__hidden struct task_entry *task_find_begun(u64 task, u64 start_ns);
/* When an earlier task at @task began, the free event of which was missed; 0: there is none. */
u64 task_find_stale(u64 task);
/*
 * Calls @visit for each element, under RCU; 1 ends the walk. What is added or removed meanwhile may
 * be missed or met twice. @visit passes the key to a function that takes only numbers: newer
 * verifiers walk through @visit several times.
 */
struct bpf_map;
__hidden long tasks_each(long (*visit)(struct bpf_map *map, u64 *key, struct task_entry *t,
				       void *context));
__hidden long processes_each(long (*visit)(struct bpf_map *map, u64 *key, struct process_entry *p,
					   void *context));
/* 0; -EEXIST: there is one already; -E2BIG, -ENOMEM: there is no room. */
__hidden long task_put(const struct task_entry *t);
__hidden void task_forget(u64 task);
/* Of the task that began at @start_ns. */
__hidden struct call_entry *calls_find(u64 task, u64 start_ns);
/* Makes an empty entry. NULL: there is no room. */
__hidden struct call_entry *calls_make(u64 task, u64 start_ns);
/* @task now has another start, as it has executed a program and its leader had that one. */
int calls_take_over(u64 task, u64 before_ns, u64 start_ns);
/* The entry of the process @serial; or one at its key that another CPU still fills in. */
__hidden struct process_entry *process_find(u64 signal, u64 serial);
/* The serial of another process that has the entry at @signal; 0: none has. */
u64 process_find_stale(u64 signal, u64 serial);
/* Makes an empty entry. Of concurrent callers only one gets 0. */
__hidden long process_put(u64 signal);
/* Deletes the entry. Of concurrent callers only one gets 0. */
__hidden long process_forget(u64 signal);

/* pids.bpf.c */
extern __u64 pid_namespace;
/* From now on PIDs are those of the namespace of `current`, which is the collector. */
__hidden void pid_namespace_learn(void);
/* The PID of the process of @task in that namespace; 0: it is not visible there. */
u32 pid_here(u64 task);
/* Its PID in its innermost namespace: what getpid() returns in the process. */
u32 pid_innermost(u64 task);

/* cgroup.bpf.c; only with by_cgroup, or with whole_node */
/* The id of the cgroup of @task, in the hierarchy that accounts go by; 0 unless with whole_node. */
u64 cgroup_of(u64 task);
extern __u64 cgroup_target;
/* True for a process of bpfmon itself, which is not counted. */
__hidden bool task_is_own(u64 task);
/* The id of the cgroup above the one at @cgroup that is at @level (0: the root), or of itself. */
u64 cgroup_ancestor_id(u64 cgroup, u32 level);
/* True if @task is in the cgroup that is followed, or in one below it. */
int cgroup_has(u64 task);
/* If @task is in it, sets @target_level, the depth of that cgroup. */
int cgroup_find_level(u64 task);

/* events.bpf.c */
/* Where one of these fails, the ring had no room: the caller counts the loss in its account. */
__hidden long process_emit(struct process_entry *p);
__hidden long oom_emit(struct oom_event *e);
__hidden long exec_emit(struct task_struct *task, struct linux_binprm *bprm, u64 image);
int account_emit(u64 tree, u64 cgroup, u32 kind);
__hidden void cgroup_emit(u64 id, enum cgroup_news news);
/* With whole_node. @path: of the cgroup that was made; 0: it was removed. */
int cgroup_name_emit(u64 id, u64 path);

/* account.bpf.c */
enum commit_result { COMMIT_GONE, COMMIT_DONE, COMMIT_LAST };
/* @how: the commit closes the entry; nothing is left to commit after it. */
#define COMMIT_CLOSES 1
#define COMMIT_FINAL 2
__hidden int task_commit_counters(u64 task, struct task_entry *t, struct process_entry *p,
				  struct task_counters *now, u32 how);
int account_add_task(u64 tree, u64 cgroup, u32 is_process, u32 is_root);
int account_end_task(u64 tree, u64 cgroup, u32 ended_process);
/* The end was not seen; nor was that of its @threads. */
int account_end_process(u64 tree, u64 cgroup, u32 threads);
int account_leave_process(u64 tree, u64 cgroup);
/* A live process with @threads live threads has moved in from, or out to, another account. @flags:
 * of the process; PROCESS_ROOT: it counts as one that was launched or attached. */
int account_move_in(u64 tree, u64 cgroup, u32 threads, u32 flags);
int account_move_out(u64 tree, u64 cgroup, u32 threads);
/* Makes the account unless it exists. -ENOSPC: there is no room for another one. */
int account_make(u64 tree, u64 cgroup);
/* From now on no task is added to that account: it goes to that of the tree @heir. */
int account_close(u64 tree, u64 cgroup, u64 heir);
/* The tree that tasks of @tree are added to: mostly @tree itself. */
u64 account_heir(u64 tree, u64 cgroup);
/* Adds @n to @loss (enum loss) of the machine and, if the account exists, of the account. */
int account_lose(u64 tree, u64 cgroup, u32 loss, s32 n);
int account_add_execs(u64 tree, u64 cgroup, u64 n);
/* Made unless it exists. NULL: there is no room, which has been counted. */
__hidden struct account *account_open(u64 tree, u64 cgroup);

/* calls.bpf.c; only with want_calls */
/* Adds what calls of @task have moved since the last commit to its process and account. */
__hidden void calls_commit(u64 task, struct task_entry *t, struct process_entry *p);
/* Adds @more to the counter @which, of connections, of that process and its account. -ESRCH: there
 * is no such process any more; and to that of an account alone. */
int net_add(u64 signal, u64 serial, u32 which, u32 more);
int net_add_late(u64 tree, u64 cgroup, u32 which, u32 more);

/* connects.bpf.c */
/* The current task sends a SYN: its connect() has not failed at once. */
int connect_opens(void);

/* lifetimes.bpf.c */
enum { LIFETIME_OF_LIVE, LIFETIME_OF_LAST };
/*
 * Before the number of a process's live threads changes, or its account: adds their lifetimes until
 * @now to both. LIFETIME_OF_LAST: of the one that has ended last, but still frees the memory of
 * all.
 */
int lifetime_commit(u64 signal, u64 serial, u64 now, u32 how);

/* baseline.bpf.c */
__hidden void baseline_add(const struct task_counters *used);
__hidden void baseline_add_ended(struct signal_struct *sig);

/* refused.bpf.c */
/* There was no room for an entry of @task, which was to be followed; @flags as of task_add(). */
int task_refuse(u64 task, u64 tree, u64 cgroup, u32 flags);
/* It has been freed, or has an entry now; @at_birth: before any sample, thus without a loss. */
int task_refused_forget(u64 task, u32 at_birth);

/* memory.bpf.c */
/* Reads what @mm holds, and its marks. */
__hidden void memory_read(struct mm_struct *mm, struct drain_row *row, struct seen_marks *now);
/* Reads the marks of @mm, in which @resident pages are resident. */
__hidden void marks_read(struct mm_struct *mm, u64 resident, struct seen_marks *now);
/* Pages that are resident in @mm, which its creator has just made on this CPU. */
u64 resident_read_at_birth(u64 mm);

/* Pages that are resident, as procfs reports them. */
__hidden u64 resident_read(struct mm_struct *mm);
/* The central part of a per-CPU counter: it changes in batches. */
__hidden s64 rss_central_read(struct mm_struct *mm, u32 member);

/* peak.bpf.c; all only with want_exact_peak */
/* The process uses @mm from now on; a process has one at a time. */
int mm_join(u64 signal, u64 serial, u64 mm);
/* It no longer uses its address space. @is_torn_down: which holds no pages any more. */
int mm_leave(u64 signal, u64 serial, u32 is_torn_down);
/* The record of the process is about to be emitted: adds to it what was held at the peak. */
int mm_forget(u64 signal, u64 serial);
/* The pages of @mm have been freed, by the process @signal; 0: by one that is not followed. */
int mm_note_freed(u64 mm, u64 signal, u64 serial);
/* @mm is new: if it has an entry, that is of an earlier one, the end of which was missed. */
int mm_note_born(u64 mm);
/* Reads what @mm holds now, if it is followed. */
int mm_refresh(u64 mm);

/* marks.bpf.c */
extern bool knows_release;
/* The process of @task has ended or left the cgroup: records the mark of its last image. */
__hidden void peak_note_exit(struct task_struct *task, struct process_entry *p);
__hidden void peak_note_exec(struct task_struct *task, struct process_entry *p);
/*
 * Records @now, the marks of the address space that @p uses, if @p is still the process @serial.
 * @before is a copy of the marks in @p, made before @now was read. Returns the most that it was
 * ever found to hold: more than in @now if the kernel's mark was reset, which is noted.
 */
__hidden u64 mark_note(struct process_entry *p, u64 serial, const struct seen_marks *before,
		       const struct seen_marks *now);

/* exits.bpf.c */
/* What @task has used since its birth. */
__hidden void counters_read(struct task_struct *task, struct task_counters *now);
/* Commits what @task has used since the last commit. Its task_struct may have been freed. False:
 * nothing was read, as all is committed or it has not run since; or it is another task by now. */
__hidden bool task_commit(u64 task, struct task_entry *t, struct process_entry *p);
/* The same for a task that has exited. True: nothing is left to commit. */
int task_commit_exited(u64 task);
/*
 * True for a task that ended so long ago that it must have been freed: the event was missed. Its
 * task_struct cannot tell, as freed memory may keep what it held.
 */
int task_is_forgotten(u64 task);
/* @task has exited: counted once, and once for its process. @seen: this is the exit hook. */
int task_note_exit(u64 task, u32 seen);

/* processes.bpf.c */
/* Makes an entry for the process of @task unless it has one; for the results see there. */
#define PROCESS_NO_ROOM (-2)
int process_make(u64 task, u64 tree, u64 cgroup, u64 image, u32 flags);
/* True for one caller only, which then emits the record of the process and deletes its entry. */
__hidden bool process_begin_closing(struct process_entry *p, u64 serial);
/* The process has no task left. @how: flags for its record unless its end was seen. */
int process_close(u64 signal, u64 serial, u32 how);

/* entries.bpf.c */
/* What the task that is launched has used before; set before task_add() with PROCESS_LAUNCHED. */
extern struct task_counters launched_used;
/* Makes an entry for @task and, if it has none, for its process. Idempotent. */
int task_add(u64 task, u64 tree, u64 cgroup, u64 image, u32 flags);
/* A hook of the birth of @task runs. True: it has an entry already. */
__hidden bool task_birth_seen(u64 task);
/* The free event of the task that was at @task and began at @start_ns was missed: closes its entry.
 */
int task_close(u64 task, u64 start_ns);

/* transfer.bpf.c */
/*
 * Moves the process to another account. @flags: of a process that is launched or attached to, whose
 * record then begins anew; or 0. 0; -ESRCH; -ENOSPC: there is no room for another account.
 */
int process_transfer(u64 signal, u64 serial, u64 tree, u64 cgroup, u32 flags);
/* With whole_node: accounts the process of @task to the cgroup that it is in now. */
int process_recount(u64 task);

/* members.bpf.c */
enum ours { NOT_OURS, OURS_BY_BIRTH, OURS_BY_CGROUP };
__hidden enum ours task_is_ours(struct task_struct *task, struct account_key *account, u64 *image);
/* Makes an entry for @task, which has none, if it is to be followed. False: it is not. */
int task_adopt(u64 task);

/* moves.bpf.c; only with by_cgroup */
/* @task, which has an entry, is no longer in the cgroup: commits it and closes the entry. */
int task_leave(u64 task);

/* One task that a drain with this mark, as in a task_entry, has met; in tracking.tasks. */
static __always_inline u64 met_one(u64 mark)
{
	return 1ULL << tasks_met_shift(mark >> 1);
}

static __always_inline struct process_entry *process_of(const struct task_entry *t)
{
	return t ? process_find(t->process, t->serial) : NULL;
}

/*
 * Closes the entry at @task unless it is of the task that is there now. Inlined, as this is called
 * deep in the call chain.
 */
static __always_inline void task_close_stale(u64 task)
{
	u64 start_ns = task_find_stale(task);

	if (start_ns)
		task_close(task, start_ns);
}

static __always_inline void process_lock(struct process_entry *p)
{
	bpf_spin_lock(&p->lock);
}

static __always_inline void process_unlock(struct process_entry *p)
{
	bpf_spin_unlock(&p->lock);
}

/* The account of @p at this moment: it may change at any time. */
static __always_inline struct account_key process_account(struct process_entry *p)
{
	struct account_key key;

	process_lock(p);
	key = p->event.rec.account;
	process_unlock(p);
	return key;
}

#define ACCOUNT_TRIES 4 /* it changes rarely, and hardly twice during a commit */

/*
 * Locks @p and opens the account that it is in, so that both can grow together. @key: the account,
 * or the one tried last. -ENOSPC: there is no room for it, which has been counted; -EAGAIN: @p was
 * moved each time.
 */
static __always_inline int process_lock_account(struct process_entry *p, struct account_key *key,
						struct account **a)
{
	for (int i = 0; i < ACCOUNT_TRIES; i++) {
		*key = process_account(p);
		*a = account_open(key->tree, key->cgroup);
		if (!*a)
			return -ENOSPC;
		process_lock(p);
		if (p->event.rec.account.tree == key->tree &&
		    p->event.rec.account.cgroup == key->cgroup)
			return 0;
		process_unlock(p);
	}
	return -EAGAIN;
}

/* Pages of the three kinds of memory that a CPU may not yet have added to the central counters. */
static __always_inline u64 rss_batch_pages(void)
{
	return 3 * (nr_cpus * 2 > 32 ? nr_cpus * 2 : 32);
}

/* Pages by which a mark, made of these, may be below what was really held. */
static __always_inline u64 mark_error_pages(void)
{
	return rss_batch_pages() * nr_cpus;
}

/* Returns the increase since the last commit, or 0 if there is none, and advances @last by it. */
static __always_inline u64 counter_advance(u64 *last, u64 now)
{
	u64 delta = value_excess(now, *last);

	*last += delta;
	return delta;
}

/* @whole * @part / @sum, where the product may need more than 64 bits. */
static __always_inline u64 counter_scale(u64 whole, u64 part, u64 sum)
{
	u64 share;

	if (sum >> 48) {
		sum >>= 24;
		part >>= 24;
	}
	if (sum >> 31) {
		sum >>= 17;
		part >>= 17;
	}
	if (!sum)
		return 0;
	share = (part << 32) / sum;
	return (whole >> 32) * share + ((whole & 0xffffffff) * share >> 32);
}

/*
 * The system part of @cpu; the rest is the user part. They are split by the ticks, as the kernel's
 * cputime_adjust() does, and neither part is less than it was before.
 */
static __always_inline u64 system_part(u64 cpu, u64 utime, u64 stime, u64 user, u64 system)
{
	u64 part;

	if (!stime)
		part = 0;
	else if (!utime)
		part = cpu;
	else
		part = counter_scale(cpu, stime, stime + utime);
	if (part < system)
		part = system;
	if (part > cpu)
		part = cpu;
	if (cpu - part < user)
		part = cpu > user ? cpu - user : 0;
	return part;
}

/*
 * For the caller that process_begin_closing() returned true to. Inlined: the kernel allows eight
 * frames, and this is called deep in the call chain.
 */
static __always_inline void process_tell_and_forget(u64 signal, struct process_entry *p)
{
	if (!p->event.rec.released_boot_ns) /* by now it is free, or not followed */
		p->event.rec.released_boot_ns = boot_now();
	if (want_exact_peak)
		mm_forget(signal, p->event.rec.serial);
	/* of no run: it is not read */
	if ((!whole_node || p->event.rec.account.tree) && process_emit(p))
		account_lose(p->event.rec.account.tree, p->event.rec.account.cgroup, LOSS_RECORDS,
			     1);
	process_forget(signal);
}

/*
 * Adds the execs that the hook missed: those up to the one after which the process has @exec_id.
 * Then its image is not known either.
 */
static __always_inline void execs_catch_up(struct process_entry *p, u32 exec_id)
{
	u32 missed = exec_id - p->exec_id;
	struct account_key key;

	if ((s32)missed <= 0)
		return;
	p->exec_id = exec_id;
	p->event.rec.execs += missed;
	p->event.rec.image = 0;
	p->event.rec.flags |= PROCESS_IMAGE_UNKNOWN;
	add(tracking.images_unseen, missed);
	key = process_account(p);
	account_add_execs(key.tree, key.cgroup, missed);
}

/* A number that no other call in this boot returns. */
static __always_inline u64 serial_new(void)
{
	return bpf_ktime_get_ns() << 10 | (bpf_get_smp_processor_id() & 1023);
}

/* Computed from @task alone: known also while another CPU still fills in the entry. */
static __always_inline u64 process_serial(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime) << 10 |
	       (BPF_CORE_READ(task, tgid) & 1023);
}

/* @pointer as a number, the only kind of argument of a function that is verified once. */
static __always_inline u64 as_number(const void *pointer)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}

static __always_inline u32 task_uid(struct task_struct *task)
{
	const struct cred *cred = (const void *)BPF_CORE_READ(task, cred);

	return BPF_CORE_READ(cred, uid.val);
}

/* Pointers are never loaded directly: for each such load the verifier searches all types. */
#define COUNTER_IS_READ(base, field)                                                               \
	((wanted & (1ULL << TC_##base)) && bpf_core_field_exists(((struct task_struct *)0)->field))

#endif
