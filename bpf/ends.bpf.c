// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Ends a run: sends SIGKILL to each of its processes at its next system call. The kernel does not
 * fork a process with a pending SIGKILL, so no further process of the run is born and the existing
 * ones can be found and ended. A signal at the birth of a child would reach only its creator.
 * Attached only while a run is being ended.
 */
#include "tasks.bpf.h"

#define SIGKILL 9

/* Trees that are being ended; 0, without whole_node: everything that is tracked. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, MAX_ACCOUNTS);
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, u64);
	__type(value, u32); /* user who ends the run; END_ANY: end processes of any user */
} ending SEC(".maps");

struct cred___of_kill {
	kuid_t uid, suid;
} __attribute__((preserve_access_index));

struct task_struct___of_kill {
	const struct cred___of_kill *real_cred;
} __attribute__((preserve_access_index));

/* Same rule as kill(2) for an unprivileged user. */
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
