// SPDX-License-Identifier: BSD-2-Clause
/*
 * Usage: nobpf EPERM|ENOSYS CMD [ARGS]
 * Executes CMD below a seccomp filter that answers bpf() and perf_event_open() with this error, as
 * container engines do.
 */
#include "truth.h"
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/prctl.h>

static void filter_install(unsigned error)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_bpf, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_perf_event_open, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		truth_fail("PR_SET_NO_NEW_PRIVS");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		truth_skip("the kernel has no seccomp filters (CONFIG_SECCOMP_FILTER)");
}

int main(int argc, char **argv)
{
	if (argc < 3 || (strcmp(argv[1], "EPERM") && strcmp(argv[1], "ENOSYS")))
		truth_usage("nobpf EPERM|ENOSYS CMD [ARGS]");
	filter_install(strcmp(argv[1], "EPERM") ? ENOSYS : EPERM);
	execvp(argv[2], argv + 2);
	truth_fail("%s", argv[2]);
}
