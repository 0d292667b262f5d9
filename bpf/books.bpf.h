/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The second rung: entries in maps, events, accounts. */
#ifndef BOOKS_BPF_H
#define BOOKS_BPF_H

#include "base.bpf.h"

/*
 * Functions that are not __hidden take only numbers: the verifier then checks them once, and not
 * at each call, which keeps loading fast.
 */

/* In the order of the ladder: a file uses functions of the files above it, none of those below. */

/* maps.bpf.c */
/*
 * Returns the entry of the task that is at the address @task now, or NULL if it has none. Compares
 * the start time in the entry with that of the task_struct (after an exec by a thread: the process
 * and the PID), so an entry that an earlier task at @task left is never returned. Memory that has
 * been freed and not reused still matches. Unless @task is `current`, it may be reused after the
 * check: what is read through @task then has to be checked again, as task_commit() does.
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

/* namespaces.bpf.c */
extern __u64 pid_namespace;
/* From now on PIDs are those of the namespace of `current`, which is the collector. */
__hidden void pid_namespace_learn(void);
/* The PID of the process of @task in that namespace; 0: it is not visible there. */
u32 pid_here(u64 task);
/* Its PID in its innermost namespace: what getpid() returns in the process. */
u32 pid_innermost(u64 task);

/* What a time namespace adds to the kernel's clocks for the collector. */
extern __s64 mono_offset_ns, boot_offset_ns;
/* Called where the collector is `current`: from then on times are those of its clocks. */
__hidden void clocks_learn(void);

/* Converts a time of the kernel to the collector's clock; negative before that clock's zero. */
static __always_inline u64 mono_convert(u64 mono_ns)
{
	return mono_ns + mono_offset_ns;
}

static __always_inline u64 boot_convert(u64 boot_ns)
{
	return boot_ns + boot_offset_ns;
}

/* All times that user space gets come from these two, or were converted by the two above. */
static __always_inline u64 mono_now(void)
{
	return mono_convert(bpf_ktime_get_ns());
}

static __always_inline u64 boot_now(void)
{
	return boot_convert(bpf_ktime_get_boot_ns());
}

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
enum { LIFETIME_OF_LIVE, LIFETIME_OF_LAST };
/*
 * Before the number of a process's live threads changes, or its account: adds their lifetimes until
 * @now to both. LIFETIME_OF_LAST: of the one that has ended last, but still frees the memory of
 * all.
 */
int lifetime_commit(u64 signal, u64 serial, u64 now, u32 how);
__hidden void baseline_add(const struct task_counters *used);
__hidden void baseline_add_ended(struct signal_struct *sig);

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

#endif
