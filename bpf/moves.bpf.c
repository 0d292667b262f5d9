// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/* Hooks of moves between cgroups, and of cgroups that are made and removed. */
#include "tasks.bpf.h"

/* threads of a moved process that the hook handles; the collector finds the others */
#define MAX_THREADS 16

const volatile __s32 cgroup_hierarchy;
/* zeros: the target is not recognized when it is made again */
const volatile __u64 target_path[TARGET_PATH_WORDS];

__noinline int task_leave(u64 addr)
{
	struct task_entry *t = task_find(addr);
	struct process_entry *p = process_of(t);
	struct task_counters now = {};
	struct account_key account;
	u64 signal, serial;
	bool exited;
	int result;

	if (!t || !p)
		return 0;
	signal = t->process;
	serial = t->serial;
	exited = t->exited;
	if (!exited)
		peak_note_exit((struct task_struct *)addr, p);
	counters_read((struct task_struct *)addr, &now);
	if (task_is_freed(addr)) /* the next drain closes it */
		return 0;
	if (want_calls)
		calls_commit(addr, t, p);
	result = task_commit_counters(addr, t, p, &now, COMMIT_CLOSES);
	if (result == COMMIT_GONE)
		return 0;
	task_forget(addr);
	add(tracking.moved_out, 1);
	if (!exited) {
		lifetime_commit(signal, serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
		process_lock(p);
		p->alive_tasks--;
		account = p->event.rec.account;
		process_unlock(p);
		account_end_task(account.tree, account.cgroup, false);
	}
	if (result == COMMIT_LAST)
		process_close(signal, serial, PROCESS_LEFT, 0);
	return 0;
}

/*
 * Counts a move seen by the hook. What a running task has used since the scheduler's last update is
 * known at its next tick.
 */
static __always_inline void move_count_seen(u64 addr)
{
	add(tracking.moves_seen, 1);
	if (BPF_CORE_READ((struct task_struct *)addr, on_rq))
		add(tracking.moves_running, 1);
}

/*
 * cgroup_attach_task reports a move after the fact, once for a whole process; the hook walks its
 * threads. Interrupts are off there, so the kernel may be unable to allocate a new entry. Then, for
 * processes with many threads, and after a missed event, the collector runs a pass over all tasks.
 */

/*
 * Handles @task, which may have been moved in or out. Returns false if the collector has to look
 * for it later.
 */
int task_handle_move(u64 addr)
{
	struct task_entry *t = task_find(addr);
	int err;

	if (whole_node) { /* threads are committed before the account of their process changes */
		task_commit(addr, t, process_of(t));
		return true;
	}
	if (cgroup_has(addr) == !!t || task_is_own(addr))
		return true;
	if (t) {
		move_count_seen(addr);
		task_leave(addr);
		return true;
	}
	err = task_add(addr, root_account.tree, root_account.cgroup, 0,
		       PROCESS_ROOT | PROCESS_SEEDED | PROCESS_MOVED);
	if (!err) {
		add(tracking.moved_in, 1);
		move_count_seen(addr);
	}
	return !err || err == -EEXIST;
}

/* Runs once for a moved task, or for the leader of a process that is moved as a whole. */
SEC("?tp_btf/cgroup_attach_task")
int BPF_PROG(cgroup__attach_task, struct cgroup *to, const char *path, struct task_struct *task,
	     bool is_whole)
{
	struct signal_struct *sig = BPF_CORE_READ(task, signal);
	u64 head = (u64)sig + bpf_core_field_offset(struct signal_struct, thread_head);
	u64 node = (u64)BPF_CORE_READ(sig, thread_head.next);

	if (!is_whole && task_handle_move(as_number(task)))
		return 0;
	for (int i = 0; is_whole && i < MAX_THREADS; i++) {
		if (node == head || !node)
			break;
		if (!task_handle_move(node -
				      bpf_core_field_offset(struct task_struct, thread_node)))
			break;
		node = (u64)BPF_CORE_READ((struct list_head *)node, next);
	}
	/* usage of further threads since the last drain goes to the new account */
	if (whole_node) {
		process_recount(as_number(task));
		return 0;
	}
	if (is_whole && (node == head || !node))
		return 0;
	add(tracking.moves_unseen, 1);
	cgroup_emit(cgroup_target, CGROUP_MOVES);
	return 0;
}

/* one buffer is enough: the kernel runs this hook under a lock */
__u64 made_path[TARGET_PATH_WORDS];

static __always_inline bool cgroup_is_target(struct cgroup *cg, const char *path)
{
	if (!target_path[0] || BPF_CORE_READ(cg, root, hierarchy_id) != cgroup_hierarchy)
		return false;
	for (int i = 0; i < TARGET_PATH_WORDS; i++)
		made_path[i] = 0;
	bpf_probe_read_kernel_str(made_path, sizeof(made_path), path);
	for (int i = 0; i < TARGET_PATH_WORDS; i++)
		if (made_path[i] != target_path[i])
			return false;
	return true;
}

SEC("?tp_btf/cgroup_mkdir")
int BPF_PROG(cgroup__mkdir, struct cgroup *cg, const char *path)
{
	if (whole_node && BPF_CORE_READ(cg, root, hierarchy_id) == cgroup_hierarchy)
		cgroup_name_emit(BPF_CORE_READ(cg, kn, id), as_number(path));
	if (!cgroup_is_target(cg, path))
		return 0;
	cgroup_target = BPF_CORE_READ(cg, kn, id);
	target_level = BPF_CORE_READ(cg, level) + 1;
	cgroup_emit(cgroup_target, CGROUP_MADE);
	return 0;
}

SEC("?tp_btf/cgroup_rmdir")
int BPF_PROG(cgroup__rmdir, struct cgroup *cg, const char *path)
{
	if (BPF_CORE_READ(cg, root, hierarchy_id) != cgroup_hierarchy)
		return 0;
	if (whole_node)
		cgroup_name_emit(BPF_CORE_READ(cg, kn, id), 0);
	else if (BPF_CORE_READ(cg, kn, id) == cgroup_target)
		cgroup_emit(cgroup_target, CGROUP_REMOVED);
	return 0;
}
