// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Moves one process, or all processes of an account, to another account. What a process used before
 * is in the old account, what it uses from then on in the new one, and nothing in both: the account
 * changes under the lock under which commits read it. The process keeps its entry and will have one
 * record.
 */
#include "bpfmon.bpf.h"

struct move_request move;
struct retire_request retire;

/* @from: the account that @p had; @threads: live ones. False: it has ended, or has @to already. */
static __always_inline bool account_set(struct process_entry *p, const struct account_key *to,
					struct account_key *from, u32 *threads)
{
	bool is_moved;

	process_lock(p);
	*from = p->event.rec.account;
	*threads = p->alive_tasks;
	is_moved = !(p->event.rec.flags & PROCESS_ENDED) && p->event.rec.threads_total &&
		   (from->tree != to->tree || from->cgroup != to->cgroup);
	if (is_moved)
		p->event.rec.account = *to;
	process_unlock(p);
	return is_moved;
}

/* The tasks of the process have been committed; until here, further commits of the ones that run go
 * to the old account. */
int process_move(u64 signal)
{
	struct process_entry *p = process_find(signal);
	struct account_key to = move.to, from;
	u32 threads;

	if (!p)
		return -ESRCH;
	if (account_make(to.tree, to.cgroup))
		return -ENOSPC;
	if (!account_set(p, &to, &from, &threads))
		return 0;
	account_move_in(to.tree, to.cgroup, threads);
	account_move_out(from.tree, from.cgroup, threads);
	return 0;
}

SEC("iter/task")
int reassign__process(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct process_entry *p;
	struct task_entry *t;
	u64 addr;

	if (!task) { /* all have been visited */
		if (!move.signal)
			move.result = -ESRCH;
		else
			move.result = move.is_question ? 0 : process_move(move.signal);
		return 0;
	}
	addr = as_number(task);
	if (pid_here(addr) != move.pid)
		return 0;
	t = task_find(addr);
	p = t && task_is(addr, t) ? process_find(t->process) : NULL;
	if (!p)
		return 0;
	if (!move.is_question)
		task_commit(addr, t, p);
	move.signal = t->process;
	move.serial = t->serial;
	return 0;
}

/* The record of the process that was moved last, as it was then: later commits do not change it.
 */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct process_record);
} retired SEC(".maps");

/*
 * Copies the record of @p to @rec, and moves @p to the new account. False: it is not in the old
 * one, is being closed, or has no task yet and will be born into the new one.
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

/* Of the thread group's leader, which is its first thread, as in /proc/PID/stat. 0: it has none. */
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

/* The totals of the old account stay: they are those of the records that are written here. */
SEC("iter/bpf_map_elem")
int reassign__account(struct bpf_iter__bpf_map_elem *ctx)
{
	u64 *at = ctx->key, key;
	struct process_record *rec;
	struct process_entry *p;
	u32 zero = 0, threads;

	if (!at)
		return 0;
	key = *at;
	account_close(retire.from.tree, retire.from.cgroup);
	rec = bpf_map_lookup_elem(&retired, &zero);
	p = process_find(key);
	if (!p || !rec)
		return 0;
	if (retire.unsent != key) {
		if (!process_retire(p, rec, &threads))
			return 0;
		if (threads)
			account_move_in(retire.to.tree, retire.to.cgroup, threads);
		/* in user space a file of /proc would have to be opened for each process */
		if (!(rec->flags & PROCESS_ENDED))
			rec->state = state_read(rec->signal);
	}
	/* if it has no room, the kernel visits the element again */
	retire.unsent = bpf_seq_write(ctx->meta->seq, rec, sizeof(*rec)) ? key : 0;
	return 0;
}
