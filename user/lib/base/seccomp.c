// SPDX-License-Identifier: BSD-2-Clause
#include "base/seccomp.h"

#include "base/fd.h"

#include <errno.h>
#include <linux/audit.h>
#include <linux/bpf.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define CALL_LIMIT 0x40000000U /* calls of x32 begin here */
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define CALL_LIMIT UINT32_MAX
#endif

#if defined(ARCHITECTURE) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

struct call {
	uint32_t nr;
	unsigned roles;
	bool has_condition; /* (lower half of the argument & mask) == value */
	uint32_t argument, mask, value;
};

static const struct call calls[] = {
#define CALL(name, roles) { SYS_##name, roles, false, 0, 0, 0 },
#define CALL_IF(name, roles, argument, mask, value)                                                \
	{ SYS_##name, roles, true, argument, mask, value },
#include "base/seccomp.def"
#undef CALL
#undef CALL_IF
};

/* For development: a call that is not in the list kills the process and so fails a test. */
#ifdef SECCOMP_STRICT
#define REFUSED SECCOMP_RET_KILL_PROCESS
#else
#define REFUSED (SECCOMP_RET_ERRNO | ENOSYS)
#endif

#define NR_CALLS (sizeof(calls) / sizeof(*calls))
#define HEAD 6
#define TAIL 3
#define OF_ONE_CALL 6

struct program {
	struct sock_filter code[HEAD + NR_CALLS * OF_ONE_CALL + TAIL];
	unsigned short length;
};

static void program_put(struct program *p, uint16_t code, uint32_t k, uint8_t if_true,
			uint8_t if_false)
{
	p->code[p->length++] = (struct sock_filter){ code, if_true, if_false, k };
}

static void program_load(struct program *p, size_t offset)
{
	program_put(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void program_return(struct program *p, uint32_t action)
{
	program_put(p, BPF_RET | BPF_K, action, 0, 0);
}

/* Kills the process at a call of another architecture: bpfmon makes none. */
static void program_begin(struct program *p)
{
	program_load(p, offsetof(struct seccomp_data, arch));
	program_put(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	program_return(p, SECCOMP_RET_KILL_PROCESS);
	program_load(p, offsetof(struct seccomp_data, nr));
	program_put(p, BPF_JMP | BPF_JGE | BPF_K, CALL_LIMIT, 0, 1);
	program_return(p, SECCOMP_RET_KILL_PROCESS);
}

/* The accumulator holds the number of the call, before and after. */
static void program_allow(struct program *p, const struct call *c)
{
	const size_t argument = offsetof(struct seccomp_data, args) + 8 * (size_t)c->argument;

	program_put(p, BPF_JMP | BPF_JEQ | BPF_K, c->nr, 0, c->has_condition ? 5 : 1);
	if (c->has_condition) {
		program_load(p, argument);
		program_put(p, BPF_ALU | BPF_AND | BPF_K, c->mask, 0, 0);
		program_put(p, BPF_JMP | BPF_JEQ | BPF_K, c->value, 0, 1);
	}
	program_return(p, SECCOMP_RET_ALLOW);
	if (c->has_condition)
		program_load(p, offsetof(struct seccomp_data, nr));
}

int seccomp_install(unsigned roles)
{
	struct program p = { .length = 0 };
	struct sock_fprog filter = { .filter = p.code };

	program_begin(&p);
	for (size_t i = 0; i < NR_CALLS; i++)
		if (calls[i].roles & roles)
			program_allow(&p, &calls[i]);
	/*
	 * the flags of clone3 are in memory, which a filter cannot read; the C library then uses
	 * clone
	 */
	program_put(&p, BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1);
	program_return(&p, SECCOMP_RET_ERRNO | ENOSYS);
	program_return(&p, REFUSED);
	filter.len = p.length;
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) ? -errno : 0;
}

#else

int seccomp_install(unsigned roles)
{
	(void)roles;
	return -ENOSYS;
}

#endif
