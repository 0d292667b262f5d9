// SPDX-License-Identifier: BSD-2-Clause
#include "agent/agent_rights.h"

#include "base/privilege.h"
#include "base/seccomp.h"

#include <linux/capability.h>
#include <stdint.h>

/*
 * Whose a process is, and what it runs, is in files of /proc that only a tracer may read; the path
 * of a cgroup is found by a handle. The iterators over one process are made for each client.
 */
void agent_drop_rights(int keeps_bpf)
{
	const uint64_t needed = 1ULL << CAP_SYS_PTRACE | 1ULL << CAP_DAC_READ_SEARCH |
				1ULL << CAP_BPF | 1ULL << CAP_PERFMON;

	privilege_bound(0);
	privilege_leave_root(keeps_bpf ? needed | 1ULL << CAP_SYS_ADMIN : needed);
	seccomp_install(SECCOMP_AGENT);
}
