// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * While a run is ended: each process of it gets SIGKILL as it begins a system call. With that
 * signal pending the kernel refuses to make a process, so nothing of the run is born any more, and
 * what is there can be found and ended. A signal sent at the birth of a child would reach the
 * creator alone. Attached only while a run is ended.
 */
#include "tasks.bpf.h"

#define SIGKILL 9

/* The trees that are ended (0: all that is followed, unless with whole_node). */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ACCOUNTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, u32); /* the user who ends it; END_ANY: whatever their user */
} ending SEC(".maps");

struct cred___of_kill {
	kuid_t uid, suid;
} __attribute__((preserve_access_index));

struct task_struct___of_kill {
	const struct cred___of_kill *real_cred;
} __attribute__((preserve_access_index));

/* As kill(2) decides for a user without rights. */
static __always_inline bool may_end(struct task_struct___of_kill *task, u32 uid)
{
	const struct cred___of_kill *cred = BPF_CORE_READ(task, real_cred);

	return uid == END_ANY || uid == (u32)BPF_CORE_READ(cred, uid.val) ||
	       uid == (u32)BPF_CORE_READ(cred, suid.val);
}

SEC("?tp_btf/sys_enter")
int ends__call(void *ctx)
{
	u64 addr = bpf_get_current_task();
	struct process_entry *p = process_of(task_find(addr));
	u64 tree = 0;
	u32 *uid;

	if (!p)
		return 0;
	if (whole_node)
		tree = process_account(p).tree;
	uid = bpf_map_lookup_elem(&ending, &tree);
	if (uid && may_end((void *)addr, *uid))
		bpf_send_signal(SIGKILL);
	return 0;
}
