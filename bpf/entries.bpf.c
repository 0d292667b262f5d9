// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Entries of tasks: made if a task has to be tracked, closed here if its free event was missed. A
 * task for which the maps have no room is refused: its next event tries again. It counts as one
 * loss even if there is room then, as the samples until then lack it.
 */
#include "tasks.bpf.h"

struct refused {
	u64 start_ns;
	struct account_key account;
	u32 loss; /* enum loss that it was counted as */
	u32 pad;
};

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 16384);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, struct refused);
} refused SEC(".maps");

__u64 nr_refused; /* mostly 0, which saves the look-up */

static bool refused_lack; /* a refused task is not in the map */

/* If this map is full, too, only births are counted as losses, once at each of their two hooks. */
int task_refuse(u64 task, u64 tree, u64 cgroup, u32 flags)
{
	struct task_struct *ts = (struct task_struct *)task;
	u32 is_late = flags & PROCESS_LATE;
	struct refused now, *known;

	if (flags & PROCESS_MOVED) /* a later pass finds it */
		return 0;
	now = (struct refused){
		.start_ns = BPF_CORE_READ(ts, start_time),
		.account = { tree, cgroup },
		.loss = BPF_CORE_READ(ts, pid) == BPF_CORE_READ(ts, tgid) ? LOSS_PROCESSES_FULL
									  : LOSS_TASKS_FULL,
	};
	known = bpf_map_lookup_elem(&refused, &task);
	if (known && known->start_ns == now.start_ns)
		return 0;
	if (!bpf_map_update_elem(&refused, &task, &now, BPF_ANY)) {
		add(nr_refused, !known);
	} else {
		refused_lack = true;
		if (is_late)
			return 0;
	}
	return account_lose(tree, cgroup, now.loss, 1);
}

int task_refused_forget(u64 task, u32 at_birth)
{
	struct refused *known = nr_refused ? bpf_map_lookup_elem(&refused, &task) : NULL;
	struct account_key account;
	bool is_same;
	u32 loss;

	if (!known)
		return 0;
	loss = known->loss;
	account = known->account;
	is_same = known->start_ns == BPF_CORE_READ((struct task_struct *)task, start_time);
	if (bpf_map_delete_elem(&refused, &task))
		return 0;
	add(nr_refused, -1);
	if (!at_birth || !is_same)
		return 0;
	return account_lose(account.tree, account.cgroup, loss, -1);
}

int task_is_refused(u64 task)
{
	struct refused *known = nr_refused ? bpf_map_lookup_elem(&refused, &task) : NULL;

	return refused_lack ||
	       (known && known->start_ns == BPF_CORE_READ((struct task_struct *)task, start_time));
}

bool entries_lack;
struct task_counters launched_used;

enum taken { NOT_TAKEN, TAKEN, TAKEN_LAST };

/*
 * Closes the entry @t of the task at @key and subtracts it from @p. Returns NOT_TAKEN if it is
 * closed already.
 */
static __always_inline enum taken entry_take_out(struct process_entry *p, struct task_entry *t,
						 u64 key, struct account_key *account, bool *exited)
{
	enum taken taken = NOT_TAKEN;

	process_lock(p);
	if (t->task == key && t->serial == p->event.rec.serial) {
		t->task = 0;
		*exited = t->exited;
		if (!t->exited)
			p->alive_tasks--;
		p->tasks--;
		p->final_tasks -= t->final;
		taken = p->tasks ? TAKEN : TAKEN_LAST;
		*account = p->event.rec.account;
	}
	process_unlock(p);
	return taken;
}

/*
 * Closes the entry of a task that was at @key, began at @start_ns and whose free event was missed.
 * Its usage after the last commit is lost, unless it was dead at that commit.
 */
int task_close(u64 key, u64 start_ns)
{
	struct task_entry *t = task_find_begun(key, start_ns);
	struct process_entry *p = process_of(t);
	struct account_key account;
	enum taken taken;
	bool is_final, exited;
	u64 signal, serial;

	if (!t) /* closed, or reused for another task */
		return 0;
	is_final = t->final;
	signal = t->process;
	serial = t->serial;
	/* the end of its process has counted the loss */
	if (!p || p->event.rec.serial != serial) {
		if (__sync_val_compare_and_swap(&t->task, key, 0) == key)
			task_forget(key);
		return 0;
	}
	if (want_calls)
		calls_commit(key, t, p);
	lifetime_commit(signal, serial, bpf_ktime_get_ns(), LIFETIME_OF_LIVE);
	taken = entry_take_out(p, t, key, &account, &exited);
	if (taken == NOT_TAKEN)
		return 0;
	/* after the entry was taken out: from now on the memory may be another task's */
	task_forget(key);
	if (is_final)
		add(tracking.frees_unseen, 1);
	else
		account_lose(account.tree, account.cgroup, LOSS_STALE, 1);
	if (!exited)
		account_end_task(account.tree, account.cgroup, false);
	if (taken != TAKEN_LAST)
		return 0;
	if (signal_tgid(signal) == p->event.rec.tgid) /* threads are left that had no room */
		entries_lack = true;
	else
		process_close(signal, serial, PROCESS_ENDED | PROCESS_END_UNSEEN, 0);
	return 0;
}

/* The iterator may reach a task before its birth hooks run: such a task is not late. */
static __always_inline void entry_clear_late(struct task_entry *t)
{
	if (!t->late)
		return;
	t->late = 0;
	add(tracking.adopted_late, -1);
}

__hidden bool task_birth_seen(u64 task)
{
	struct task_entry *t = task_find(task);

	if (!t)
		return false;
	entry_clear_late(t);
	return true;
}

/*
 * Makes the entry of the task at @addr. Returns -EEXIST if there is one at that address, also of an
 * earlier task. A function of its own, as the entry takes much of the 512 bytes of stack of a call
 * chain.
 */
__noinline int task_put_new(u64 addr, u64 tree, u64 cgroup, u32 flags, u64 met)
{
	struct task_struct *task = (struct task_struct *)addr;
	struct task_entry t = {
		.task = addr,
		.process = (u64)BPF_CORE_READ(task, signal),
		.start_ns = BPF_CORE_READ(task, start_time),
		.tid = BPF_CORE_READ(task, pid),
		.serial = process_serial(task),
		.account = { tree, cgroup },
		.late = !!(flags & PROCESS_LATE),
		.met = met,
	};
	int err;

	if (can_seed && flags & PROCESS_SEEDED)
		counters_read(task, &t.last);
	else if (flags & PROCESS_LAUNCHED)
		t.last = launched_used;
	/* set with the first commit, which also adds it to the account */
	t.last.without_delays = t.last.blkio_wrong = 0;
	err = task_put(&t);
	if (can_seed && !err && flags & PROCESS_SEEDED)
		baseline_add(&t.last);
	return err;
}

/*
 * Makes the entry of the task at @addr, after closing one that an earlier task left there. Returns
 * -EEXIST if the task already has an entry.
 */
static __always_inline int task_insert(u64 addr, u64 tree, u64 cgroup, u32 flags, u64 met)
{
	int err = task_put_new(addr, tree, cgroup, flags, met);
	struct task_entry *known;

	if (err != -EEXIST)
		return err;
	known = task_find(addr);
	if (known) {
		if (!(flags & PROCESS_LATE))
			entry_clear_late(known);
		return err;
	}
	task_close_stale(addr);
	return task_put_new(addr, tree, cgroup, flags, met);
}

/* Returns the lifetime of the task so far; 0 if its counters begin now, too. */
static __always_inline u64 lived_before(u64 addr, u64 now, u32 flags)
{
	const u32 begin_now = PROCESS_LAUNCHED | (can_seed ? PROCESS_SEEDED : 0);
	u64 start = BPF_CORE_READ((struct task_struct *)addr, start_time);

	return value_excess(now, start) & (is_set(flags & begin_now) - 1);
}

/*
 * Counts a task of the process before its entry is made, so that no other hook deletes that of the
 * process meanwhile. Returns false if it is being deleted. Not inlined, for the depth of the stack.
 */
__noinline int process_hold(u64 signal, u64 serial)
{
	struct process_entry *p = process_find(signal, serial);
	bool is_held;

	if (!p)
		return false;
	process_lock(p);
	/* the serial is 0 while another CPU fills it in */
	is_held = !p->is_closing && (!p->event.rec.serial || p->event.rec.serial == serial);
	p->tasks += is_held;
	process_unlock(p);
	return is_held;
}

/*
 * Takes back what process_hold() has counted, as the task got no entry. Then the last one deletes
 * the entry of a process of which no task has got one.
 */
__noinline int process_unhold(u64 signal, u64 serial)
{
	struct process_entry *p = process_find(signal, serial);
	bool is_last, is_unused;

	if (!p)
		return 0;
	process_lock(p);
	is_last = !--p->tasks;
	is_unused = is_last && !p->event.rec.threads_total;
	if (is_unused)
		p->is_closing = 1;
	process_unlock(p);
	if (is_unused) {
		if (want_exact_peak)
			mm_leave(signal, serial, true);
		process_forget(signal);
	} else if (is_last) {
		entries_lack = true;
	}
	return 0;
}

int task_add(u64 addr, u64 tree, u64 cgroup, u64 image, u32 flags)
{
	u64 heir = account_heir(tree, cgroup);
	struct account_key account = { heir, heir == tree || whole_node ? cgroup : 0 };
	int made = process_make(addr, account.tree, account.cgroup, image, flags);
	u64 signal = (u64)BPF_CORE_READ((struct task_struct *)addr, signal);
	u64 serial = process_serial((struct task_struct *)addr);
	const u32 has_lived = PROCESS_LATE | PROCESS_SEEDED | PROCESS_LAUNCHED | PROCESS_MOVED;
	u64 met = (drain_pass.number << 1 | 1) & (is_set(flags & has_lived) - 1);
	struct process_entry *p;
	bool is_first;
	u64 now, before;
	int err;

	/* where there is no room, entries are deleted and made again while they are looked up */
	if (made == PROCESS_NO_ROOM || (made < 0 && nr_refused))
		task_refuse(addr, tree, cgroup, flags);
	if (made < 0)
		return -1;
	/* not if another task that had no room has deleted it */
	err = process_hold(signal, serial) ? task_insert(addr, tree, cgroup, flags, met) : -ESRCH;
	if (err && err != -ESRCH)
		process_unhold(signal, serial);
	if (err && err != -EEXIST)
		task_refuse(addr, tree, cgroup, flags);
	if (err)
		return err;
	p = process_find(signal, serial);
	if (!p)
		return -1;
	add(tracking.tasks, 1 + ((met & 1) << tasks_met_shift(met >> 1)));
	task_refused_forget(addr, !(flags & PROCESS_LATE));
	now = bpf_ktime_get_ns();
	before = lived_before(addr, now, flags);
	lifetime_commit(signal, serial, now, LIFETIME_OF_LIVE);
	process_lock(p);
	p->lived_before += before; /* added by the next commit */
	if (!p->alive_tasks)
		p->lived_ns = now;
	p->alive_tasks++;
	is_first = !p->event.rec.threads_total;
	p->event.rec.threads_total++;
	/* the process of a thread may have moved; one that is being filled in has no account yet */
	if (p->event.rec.signal)
		account = p->event.rec.account;
	process_unlock(p);
	if (flags & PROCESS_LATE)
		add(tracking.adopted_late, 1);
	if (flags & PROCESS_SEEDED)
		add(tracking.seeded, 1);
	account_add_task(account.tree, account.cgroup, is_first, flags & PROCESS_ROOT);
	return 0;
}

static __always_inline bool entry_read_account(struct task_entry *t, struct account_key *account,
					       u64 *image)
{
	struct process_entry *p = process_of(t);

	if (!p || !p->event.rec.signal) /* another CPU still fills it in */
		return false;
	*account = process_account(p);
	*image = p->event.rec.image;
	return true;
}

/*
 * Decides if @task, which has no entry, has to be tracked: if its process or parent is, or by its
 * cgroup. Sets @account and @image if so. The parent pointer may dangle, as a parent can be freed
 * before @task: a task there that was born after @task is not the parent.
 */
__hidden enum tracked_by task_should_track(struct task_struct *task, struct account_key *account,
					   u64 *image)
{
	struct task_struct *parent;
	struct task_entry *t;
	u64 signal = (u64)BPF_CORE_READ(task, signal);
	struct process_entry *p = process_find(signal, process_serial(task));

	if (by_cgroup && (!cgroup_has((u64)task) || task_is_own((u64)task)))
		return NOT_TRACKED;
	if (p && p->event.rec.signal) {
		*account = process_account(p);
		*image = p->event.rec.image;
		return TRACKED_BY_BIRTH;
	}
	parent = BPF_CORE_READ(task, real_parent);
	t = task_find((u64)parent);
	if (t && t->start_ns <= BPF_CORE_READ(task, start_time) &&
	    entry_read_account(t, account, image)) {
		if (whole_node)
			account->cgroup = cgroup_of((u64)task);
		return TRACKED_BY_BIRTH;
	}
	if (whole_node) {
		account->tree = *image = 0;
		account->cgroup = cgroup_of((u64)task);
		return TRACKED_BY_BIRTH;
	}
	*account = root_account;
	*image = 0;
	return by_cgroup ? TRACKED_BY_CGROUP : NOT_TRACKED;
}

int task_adopt(u64 task)
{
	struct account_key account;
	u64 image = 0;
	bool is_old = can_seed && !seeding &&
		      (s64)mono_convert(BPF_CORE_READ((struct task_struct *)task, start_time)) <
			      (s64)seeded_at_ns;
	enum tracked_by how;

	if (is_old && !whole_node)
		return false;
	if (whole_node && !seeding &&
	    !seeded_at_ns) /* the first pass finds what was running already */
		return false;
	how = task_should_track((struct task_struct *)task, &account, &image);
	if (how == NOT_TRACKED)
		return false;
	/* a task being moved in may be met before the hook of its move: it counts from now on */
	if (seeding || is_old || how == TRACKED_BY_CGROUP)
		task_add(task, account.tree, account.cgroup, 0, PROCESS_ROOT | PROCESS_SEEDED);
	else
		task_add(task, account.tree, account.cgroup, image, PROCESS_LATE);
	return true;
}
