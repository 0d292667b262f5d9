// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * The ring buffer: ended processes, execs, OOM kills, cgroups. A lost event costs a row, never a
 * count.
 */
#include "books.bpf.h"

#define RING_BYTES (2 << 20)
#define PATH_STEPS (PATH_COMPONENTS + 8) /* each mount point takes an extra step */
#define NAME_BYTES 256

const volatile bool want_args;

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, RING_BYTES);
} events SEC(".maps");

/* Size of a process event without its call_counters, which are at its end. */
#define SHORT_EVENT_BYTES (sizeof(struct process_event) - sizeof(struct call_counters))

/* All spans may end before the collector gets a CPU. */
_Static_assert(MAX_ACCOUNTS *(SHORT_EVENT_BYTES + sizeof(struct account_event) +
			      2 * BPF_RINGBUF_HDR_SZ) < RING_BYTES,
	       "the records of all accounts fit");

/* An exec event under construction, and the position on the way up its path. */
struct exec_scratch {
	u64 dentry, mount;
	struct exec_event event;
};

/*
 * One element per CPU is enough: only one program uses it, and the kernel runs one instance of a
 * program at a time per CPU.
 */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, u32);
	__type(value, struct exec_scratch);
} exec_scratch SEC(".maps");

/*
 * Wakes the collector only when a quarter of the ring is full, as a wake-up costs more than an
 * event.
 */
static __always_inline u64 ring_wakeup_flags(void)
{
	return bpf_ringbuf_query(&events, BPF_RB_AVAIL_DATA) > RING_BYTES / 4 ? BPF_RB_FORCE_WAKEUP
									      : BPF_RB_NO_WAKEUP;
}

__hidden long process_emit(struct process_entry *p)
{
	/* short events, so that the ring holds many processes that end at once */
	const u64 size = want_calls ? sizeof(p->event) : SHORT_EVENT_BYTES;

	return bpf_ringbuf_output(&events, &p->event, size, ring_wakeup_flags());
}

__hidden long oom_emit(struct oom_event *e)
{
	return bpf_ringbuf_output(&events, e, sizeof(*e), BPF_RB_FORCE_WAKEUP);
}

/* If this event is lost, the next drain finds the same. */
int account_emit(u64 tree, u64 cgroup, u32 kind)
{
	struct account_event e = { .kind = kind, .account = { tree, cgroup } };

	bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP);
	return 0;
}

__hidden void cgroup_emit(u64 id, enum cgroup_news news)
{
	struct cgroup_event e = {
		.kind = EVENT_TARGET,
		.news = news,
		.id = id,
		.time_ns = mono_now(),
	};

	/* if this event is lost, the collector finds the change when it checks the cgroup */
	bpf_ringbuf_output(&events, &e, sizeof(e), BPF_RB_FORCE_WAKEUP);
}

int cgroup_name_emit(u64 id, u64 path)
{
	struct cgroup_name_event *e = bpf_ringbuf_reserve(&events, sizeof(*e), 0);
	long n = 0;

	if (!e)
		return 0; /* the collector finds the cgroup at the next drain */
	e->kind = EVENT_CGROUP_NEWS;
	e->id = id;
	if (path)
		n = bpf_probe_read_kernel_str(e->path, sizeof(e->path), (void *)path);
	e->bytes = n > 0 ? n : 0;
	bpf_ringbuf_submit(e, BPF_RB_FORCE_WAKEUP);
	return 0;
}

/*
 * Reads the next path component on the way up, or crosses a mount point. Returns false at the root.
 */
int path_step(void)
{
	u32 zero = 0, at;
	struct exec_scratch *s = bpf_map_lookup_elem(&exec_scratch, &zero);
	struct dentry *dentry, *parent;
	struct mount *mnt, *up;
	const unsigned char *name;
	long n;

	if (!s)
		return false;
	dentry = (struct dentry *)s->dentry;
	mnt = (struct mount *)s->mount;
	parent = BPF_CORE_READ(dentry, d_parent);
	if (dentry == BPF_CORE_READ(mnt, mnt.mnt_root) ||
	    (dentry == parent && s->event.path_bytes)) {
		up = BPF_CORE_READ(mnt, mnt_parent);
		s->dentry = (u64)BPF_CORE_READ(mnt, mnt_mountpoint);
		s->mount = (u64)up;
		if (up == mnt)
			s->event.flags &= ~EXEC_PATH_CUT; /* the root: the path is complete */
		return up != mnt;
	}
	name = BPF_CORE_READ(dentry, d_name.name);
	/*
	 * Between this load and its last use is no call: clang 19 puts on the stack before the
	 * check what it keeps over one, and Linux 6.1 then has no bounds of it.
	 */
	at = s->event.path_bytes;
	if (at > PATH_BYTES - NAME_BYTES)
		return false;
	n = bpf_probe_read_kernel_str(&s->event.text[at], NAME_BYTES, name);
	if (n <= 0)
		return false;
	s->event.path_bytes += n;
	s->dentry = (u64)parent;
	if (dentry == parent) /* not in a directory, as a memfd: the name is the whole path */
		s->event.flags &= ~EXEC_PATH_CUT;
	return dentry != parent;
}

/* Writes the path of @file into the event, leaf first. */
static __always_inline void path_read(struct exec_scratch *s, struct file *file)
{
	struct vfsmount *vfsmnt = BPF_CORE_READ(file, f_path.mnt);

	s->dentry = (u64)BPF_CORE_READ(file, f_path.dentry);
	s->mount = (u64)vfsmnt - bpf_core_field_offset(struct mount, mnt);
	s->event.flags |= EXEC_PATH_CUT;
#pragma unroll
	for (int i = 0; i < PATH_STEPS; i++) /* unrolled: shorter for the verifier */
		if (!path_step())
			return;
}

static __always_inline void args_read(struct exec_event *e, struct task_struct *task)
{
	struct mm_struct *mm = BPF_CORE_READ(task, mm);
	u64 start = BPF_CORE_READ(mm, arg_start), n = BPF_CORE_READ(mm, arg_end) - start;
	u32 at = e->path_bytes;

	if (n > ARGS_BYTES) {
		n = ARGS_BYTES;
		e->flags |= EXEC_ARGS_CUT;
	}
	if (at > PATH_BYTES)
		return;
	if (bpf_probe_read_user(&e->text[at], n, (void *)start)) {
		e->flags |= EXEC_ARGS_UNREAD;
		n = 0;
	}
	e->args_bytes = n;
}

/*
 * Returns true if the task has other rights than its user, as a set-user-ID or set-group-ID
 * program.
 */
static __always_inline bool task_has_mixed_ids(struct task_struct *task)
{
	const struct cred *cred = (const void *)BPF_CORE_READ(task, cred);
	u32 uid = BPF_CORE_READ(cred, uid.val), gid = BPF_CORE_READ(cred, gid.val);

	return BPF_CORE_READ(cred, euid.val) != uid || BPF_CORE_READ(cred, suid.val) != uid ||
	       BPF_CORE_READ(cred, egid.val) != gid || BPF_CORE_READ(cred, sgid.val) != gid;
}

__hidden long exec_emit(struct task_struct *task, struct linux_binprm *bprm, u64 image)
{
	u32 zero = 0;
	u64 size;
	struct exec_scratch *s = bpf_map_lookup_elem(&exec_scratch, &zero);
	struct exec_event *e;

	if (!s)
		return 0;
	e = &s->event;
	e->kind = EVENT_EXEC;
	e->flags = task_has_mixed_ids(task) ? EXEC_MIXED_IDS : 0;
	e->image = image;
	e->path_bytes = 0;
	e->args_bytes = 0;
	e->uid = task_uid(task);
	path_read(s, BPF_CORE_READ(bprm, file));
	if (want_args)
		args_read(e, task);
	size = (u64)e->path_bytes + e->args_bytes;
	barrier_var(size); /* the verifier needs the check on the register that is used */
	if (size > PATH_BYTES + ARGS_BYTES)
		return 0;
	return bpf_ringbuf_output(&events, e, offsetof(struct exec_event, text) + size,
				  ring_wakeup_flags());
}
