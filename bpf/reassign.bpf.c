// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Moves one process, or all processes of an account, to another account on request of the
 * collector.
 */
#include "tasks.bpf.h"

struct move_request move;
struct retire_request retire;
struct pass retire_pass;

SEC("iter/task")
int reassign__process(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct process_entry *p;
	struct task_entry *t;
	u64 addr;

	if (!task) { /* all tasks have been visited */
		if (!move.signal)
			move.result = -ESRCH;
		else
			move.result =
				move.is_question
					? 0
					: process_transfer(move.signal, move.serial, move.to.tree,
							   move.to.cgroup, move.flags);
		return 0;
	}
	addr = as_number(task);
	if (pid_here(addr) != move.pid)
		return 0;
	t = task_find(addr);
	p = process_of(t);
	if (!p)
		return 0;
	if (!move.is_question)
		task_commit(addr, t, p);
	move.signal = t->process;
	move.serial = t->serial;
	return 0;
}

/* Copies of the records of moved processes, which later commits do not change. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, RETIRED_ROWS);
	__uint(map_flags, BPF_F_MMAPABLE);
	__type(key, u32);
	__type(value, struct process_record);
} retired SEC(".maps");

/*
 * Copies the record of @p to @rec and moves @p to the new account. Returns false if it is not in
 * the old account, is being closed, or has no task yet and so will be born into the new one.
 */
static __always_inline bool process_retire(struct process_entry *p, struct process_record *rec,
					   u32 *threads)
{
	const struct account_key from = retire.from, to = retire.to;
	bool is_one, is_closing, is_born;

	process_lock(p);
	is_one = p->event.rec.signal && p->event.rec.account.tree == from.tree &&
		 p->event.rec.account.cgroup == from.cgroup;
	is_closing = p->is_closing;
	is_born = p->event.rec.threads_total;
	*threads = p->event.rec.flags & PROCESS_ENDED ? 0 : p->alive_tasks;
	if (is_one && !is_closing) {
		*rec = p->event.rec;
		p->event.rec.account = to;
	}
	process_unlock(p);
	if (is_one && is_closing)
		retire.closing++;
	return is_one && !is_closing && is_born;
}

/* Returns the state of the first thread, the leader, as in /proc/PID/stat; 0 if there is none. */
static __always_inline u32 state_read(u64 signal)
{
	u64 head = signal + bpf_core_field_offset(struct signal_struct, thread_head);
	u64 node = (u64)BPF_CORE_READ((struct signal_struct *)signal, thread_head.next);
	struct task_struct *task =
		(void *)(node - bpf_core_field_offset(struct task_struct, thread_node));

	if (node == head)
		return 0;
	return STATE_READ | BPF_CORE_READ(task, __state) | (u32)BPF_CORE_READ(task, exit_state);
}

/*
 * Retires one process. The old account keeps its totals: they match the records written here.
 * Returns 1 if there is no room for a row.
 */
int account_retire_process(u64 key, u64 serial)
{
	struct process_entry *p = process_find(key, serial);
	u32 threads, at = retire_pass.rows;
	struct process_record *rec = bpf_map_lookup_elem(&retired, &at);

	if (!rec) {
		retire_pass.is_cut = 1;
		return 1;
	}
	if (!p)
		return 0;
	lifetime_commit(key, serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	if (!process_retire(p, rec, &threads))
		return 0;
	if (threads)
		account_move_in(retire.to.tree, retire.to.cgroup, threads,
				rec->flags & (PROCESS_WITHOUT_DELAYS | PROCESS_BLKIO_WRONG));
	/* user space would have to open a file of /proc for each process */
	if (!(rec->flags & PROCESS_ENDED))
		rec->state = state_read(rec->signal);
	retire_pass.rows = at + 1;
	return 0;
}

static long process_visit(struct bpf_map *map, u64 *key, struct process_entry *p, void *context)
{
	if (p->event.rec.account.tree != retire.from.tree) /* checked again under the lock */
		return 0;
	/* clang 19 removes "? 1 : 0", as it finds 0 or 1 already; the verifier does not */
	return is_set(account_retire_process(*key, p->event.rec.serial));
}

SEC("iter/task")
int reassign__account(struct bpf_iter__task *ctx)
{
	if (ctx->task) /* only at the call after the last task */
		return 0;
	account_close(retire.from.tree, retire.from.cgroup, retire.to.tree);
	processes_each(process_visit);
	return 0;
}
