/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * Second layer of the BPF code: map entries, events, accounts. Declared in the order in which the
 * files build on each other: a file calls only functions of the files above it.
 *
 * Functions that are not __hidden take only numbers: the verifier then checks them once instead of
 * at each call, which keeps loading fast.
 */
#ifndef BOOKS_BPF_H
#define BOOKS_BPF_H

#include "base.bpf.h"

/* maps.bpf.c */
/*
 * Returns the entry of the task at address @task, or NULL if it has none. Never returns an entry
 * that an earlier task at that address left: compares the start time in the entry with that of the
 * task_struct (after an exec by a thread: the process and PID). Freed memory that is not yet reused
 * still matches. Unless @task is `current`, the memory may be reused after this check, so values
 * read through @task have to be checked again, as task_commit() does.
 */
__hidden struct task_entry *task_find(u64 task);
/* Returns the entry of the task that began at @start_ns, even if the task is gone. */
__hidden struct task_entry *task_find_begun(u64 task, u64 start_ns);
/* Returns the start time of an earlier task at @task whose free event was missed, or 0. */
u64 task_find_stale(u64 task);
/*
 * Calls @visit for each element, under RCU, until it returns 1. Elements that are added or removed
 * meanwhile may be skipped or visited twice. @visit should pass the key to a function that takes
 * only numbers: newer verifiers walk through @visit several times.
 */
struct bpf_map;
__hidden long tasks_each(long (*visit)(struct bpf_map *map, u64 *key, struct task_entry *t,
				       void *context));
__hidden long processes_each(long (*visit)(struct bpf_map *map, u64 *key, struct process_entry *p,
					   void *context));
/* Returns 0, -EEXIST if there is an entry, or -E2BIG or -ENOMEM if there is no room. */
__hidden long task_put(const struct task_entry *t);
__hidden void task_forget(u64 task);
/* Returns the call_entry of the task that began at @start_ns, or NULL. */
__hidden struct call_entry *calls_find(u64 task, u64 start_ns);
/* Makes an empty entry. Returns NULL if there is no room. */
__hidden struct call_entry *calls_make(u64 task, u64 start_ns);
/* Updates the start time of the entry of @task after a thread's exec gave it that of its leader. */
int calls_take_over(u64 task, u64 before_ns, u64 start_ns);
/* Returns the entry of the process @serial, or one at its key that another CPU still fills in. */
__hidden struct process_entry *process_find(u64 signal, u64 serial);
/* Returns the serial of another process that has the entry at @signal, or 0. */
u64 process_find_stale(u64 signal, u64 serial);
/* Makes an empty entry. Returns 0 to only one of several concurrent callers. */
__hidden long process_put(u64 signal);
/* Deletes the entry. Returns 0 to only one of several concurrent callers. */
__hidden long process_forget(u64 signal);

/* namespaces.bpf.c */
extern __u64 pid_namespace;
/* Makes the PID namespace of `current`, the collector, the one of all PIDs. */
__hidden void pid_namespace_learn(void);
/* Returns the PID of the process of @task in that namespace, or 0 if it is not visible there. */
u32 pid_here(u64 task);
/* Returns the PID in the innermost namespace of the process: its own getpid(). */
u32 pid_innermost(u64 task);

/* Offsets of the collector's time namespace from the kernel's clocks. */
extern __s64 mono_offset_ns, boot_offset_ns;
/* Reads these offsets. `current` must be the collector. */
__hidden void clocks_learn(void);

/* Convert a time of the kernel to the collector's clock; negative before that clock's zero. */
static __always_inline u64 mono_convert(u64 mono_ns)
{
	return mono_ns + mono_offset_ns;
}

static __always_inline u64 boot_convert(u64 boot_ns)
{
	return boot_ns + boot_offset_ns;
}

/* All times that user space gets come from these two or were converted by the two above. */
static __always_inline u64 mono_now(void)
{
	return mono_convert(bpf_ktime_get_ns());
}

static __always_inline u64 boot_now(void)
{
	return boot_convert(bpf_ktime_get_boot_ns());
}

/* cgroup.bpf.c; used only with by_cgroup or whole_node */
/* Returns the cgroup id of @task in the hierarchy of the accounts; 0 unless with whole_node. */
u64 cgroup_of(u64 task);
extern __u64 cgroup_target;
/* Returns true for a task of bpfmon itself, which is not counted. */
__hidden bool task_is_own(u64 task);
/* Returns the id of the ancestor of @cgroup (or of itself) at @level; the root has level 0. */
u64 cgroup_ancestor_id(u64 cgroup, u32 level);
/* Returns true if @task is in the tracked cgroup or below it. */
int cgroup_has(u64 task);
/* If @task is in the tracked cgroup or below it, sets @target_level, the depth of that cgroup. */
int cgroup_find_level(u64 task);

/* events.bpf.c */
/* These functions fail if the ring is full: the caller counts the loss in the account. */
__hidden long process_emit(struct process_entry *p);
__hidden long oom_emit(struct oom_event *e);
__hidden long exec_emit(struct task_struct *task, struct linux_binprm *bprm, u64 image);
int account_emit(u64 tree, u64 cgroup, u32 kind);
__hidden void cgroup_emit(u64 id, enum cgroup_news news);
/* Used with whole_node. @path is 0 for a removed cgroup. */
int cgroup_name_emit(u64 id, u64 path);

/* account.bpf.c */
enum commit_result { COMMIT_GONE, COMMIT_DONE, COMMIT_LAST };
/* COMMIT_CLOSES: close the entry. COMMIT_FINAL: nothing is left to commit afterwards. */
#define COMMIT_CLOSES 1
#define COMMIT_FINAL 2
__hidden int task_commit_counters(u64 task, struct task_entry *t, struct process_entry *p,
				  struct task_counters *now, u32 how);
int account_add_task(u64 tree, u64 cgroup, u32 is_process, u32 is_root);
int account_end_task(u64 tree, u64 cgroup, u32 ended_process);
/* Used when the end of the process, and of its @threads live threads, was missed. */
int account_end_process(u64 tree, u64 cgroup, u32 threads);
int account_leave_process(u64 tree, u64 cgroup);
/*
 * Count a live process with @threads live threads that moves between accounts. @flags of the
 * process: with PROCESS_ROOT it counts as launched or attached.
 */
int account_move_in(u64 tree, u64 cgroup, u32 threads, u32 flags);
int account_move_out(u64 tree, u64 cgroup, u32 threads);
/* Makes the account unless it exists. Returns 0, or -ENOSPC if there is no room. */
int account_make(u64 tree, u64 cgroup);
/* Closes the account: tasks born or found later go to the tree @heir. */
int account_close(u64 tree, u64 cgroup, u64 heir);
/* Returns the tree that gets new tasks of @tree: @tree itself unless it is closed. */
u64 account_heir(u64 tree, u64 cgroup);
/* Adds @n to @loss (enum loss) of the machine and of the account, if that exists. */
int account_lose(u64 tree, u64 cgroup, u32 loss, s32 n);
int account_add_execs(u64 tree, u64 cgroup, u64 n);
/*
 * Returns the account, which it makes if needed, or NULL if there is no room (counted as a loss).
 */
__hidden struct account *account_open(u64 tree, u64 cgroup);
enum { LIFETIME_OF_LIVE, LIFETIME_OF_LAST };
/*
 * Adds the lifetimes of threads up to @now to the process and its account. To be called before the
 * number of live threads or the account changes. LIFETIME_OF_LAST: for the last thread, which has
 * exited but still frees the memory of all.
 */
int lifetime_commit(u64 signal, u64 serial, u64 now, u32 how);
__hidden void baseline_add(const struct task_counters *used);
__hidden void baseline_add_ended(struct signal_struct *sig);

/* calls.bpf.c; used only with want_calls */
/* Adds what calls of @task have moved since the last commit to the process and its account. */
__hidden void calls_commit(u64 task, struct task_entry *t, struct process_entry *p);
/*
 * Adds @more to the connection counter @which (enum call_counter) of the process and its account.
 * Returns -ESRCH if the process is gone. net_add_late() adds to the account alone.
 */
int net_add(u64 signal, u64 serial, u32 which, u32 more);
int net_add_late(u64 tree, u64 cgroup, u32 which, u32 more);

/* connects.bpf.c */
/* Notes that the current task sends a SYN: its connect() did not fail before that. */
int connect_opens(void);

static __always_inline struct process_entry *process_of(const struct task_entry *t)
{
	return t ? process_find(t->process, t->serial) : NULL;
}

static __always_inline void process_lock(struct process_entry *p)
{
	bpf_spin_lock(&p->lock);
}

static __always_inline void process_unlock(struct process_entry *p)
{
	bpf_spin_unlock(&p->lock);
}

/* Returns the account of @p, which may change at any time. */
static __always_inline struct account_key process_account(struct process_entry *p)
{
	struct account_key key;

	process_lock(p);
	key = p->event.rec.account;
	process_unlock(p);
	return key;
}

#define ACCOUNT_TRIES 4 /* moves are rare: hardly two happen during a commit */

/*
 * Locks @p and opens its account, so that both can grow together. Sets @key to the account, or to
 * the one tried last. Returns 0, -ENOSPC if there is no room for the account (counted as a loss),
 * or -EAGAIN if @p was moved at each attempt.
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

/*
 * Counts execs that the hook missed, up to the one that made the exec counter @exec_id. The image
 * of the process is then unknown.
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

#endif
