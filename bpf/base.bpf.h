/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/*
 * First layer of the BPF code: types, settings, arithmetic, and values computed from a kernel
 * object alone. The layers are base.bpf.h, books.bpf.h, memory.bpf.h and tasks.bpf.h: each uses
 * only the ones before it.
 */
#ifndef BASE_BPF_H
#define BASE_BPF_H

#include "vmlinux.h"
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include "bpfmon/shared.h"

typedef __u32 u32;
typedef __s32 s32;
typedef __u64 u64;
typedef __s64 s64;

#define ESRCH 3
#define EAGAIN 11
#define EEXIST 17
#define ENOSPC 28

/* Settings, written between open and load. */
extern const volatile __u64 wanted;             /* mask by enum task_counter */
extern const volatile bool want_memory;         /* read rss, vms, swap of live processes */
extern const volatile bool want_exact_peak;     /* exact peak of the tree's resident memory */
extern const volatile bool want_calls;          /* count what calls move */
extern const volatile bool want_args;           /* put command lines into exec events */
extern const volatile __u32 inject_misses;      /* for tests: events to ignore, per thousand */
extern const volatile __u32 inject_free_misses; /* for tests: free events to ignore, per thousand */
extern const volatile __u32 nr_cpus;
extern const volatile bool can_seed;   /* attach to running processes */
extern const volatile bool by_cgroup;  /* membership is decided by cgroup, not by descent */
extern const volatile bool whole_node; /* track all tasks, each in an account of its cgroup */

/* State that the collector writes while it runs. */
extern struct tracking tracking;
extern __u32 target_level;
extern __u64 seeded_at_ns;
extern bool seeding;     /* attach in progress: tasks visited now are roots and count from now on */
extern bool misses_seen; /* events were missed: a process may have threads without entries */
extern __u64 nr_refused; /* tasks for which the maps have no room now */
extern struct account_key root_account;
extern struct pass drain_pass;

/*
 * Only the task itself adds to @now (except to its sums). Commits compute the sums and advance
 * @done to @now.
 */
struct call_entry {
	u64 task;     /* key of the task; 0 if the slot is free */
	u64 start_ns; /* start time of the task, as in task_entry */
	u64 opening;  /* during connect(), until the SYN is sent: nvcsw of the task + 1; else 0 */
	struct call_counters now, done;
	/*
	 * Destination of the datagram being sent, if the call names an address and the socket has a
	 * peer; else its protocol is 0.
	 */
	struct peer_key to;
};

#define add(var, n) __sync_fetch_and_add(&(var), n)

/*
 * Comparisons without branches: after each branch the verifier walks the rest of the program twice.
 * barrier_var() keeps the compiler from making a branch. Values must be below 2^63.
 */

/* Returns 1 if @x is not 0, else 0. */
static __always_inline u64 is_set(u64 x)
{
	u64 negative = -x;

	barrier_var(negative);
	negative = (x | negative) >> 63;
	barrier_var(negative);
	return negative;
}

static __always_inline u64 is_zero(u64 x)
{
	return is_set(x) ^ 1;
}

/* Returns 1 if @a is less than @b, else 0. */
static __always_inline u64 is_less(u64 a, u64 b)
{
	u64 less = (a - b) >> 63;

	barrier_var(less);
	return less;
}

/* Returns @a if @condition is 1, @b if it is 0. */
static __always_inline u64 value_choose(u64 condition, u64 a, u64 b)
{
	return b ^ ((a ^ b) & -condition);
}

/* Returns @a - @b, or 0 if @b is larger. */
static __always_inline u64 value_excess(u64 a, u64 b)
{
	return (a - b) & (is_less(a, b) - 1);
}

/* Returns what one visited task adds to tracking.tasks; @mark is that of its task_entry. */
static __always_inline u64 met_one(u64 mark)
{
	return 1ULL << tasks_met_shift(mark >> 1);
}

/*
 * Returns the largest number of pages that one CPU may not yet have added to the central counters
 * (of file, anonymous and shared memory).
 */
static __always_inline u64 rss_batch_pages(void)
{
	return 3 * (nr_cpus * 2 > 32 ? nr_cpus * 2 : 32);
}

/* Returns the largest number of pages by which the kernel's high-water mark may be too low. */
static __always_inline u64 mark_error_pages(void)
{
	return rss_batch_pages() * nr_cpus;
}

/* Advances @last to @now and returns the increase; returns 0 if @now is lower. */
static __always_inline u64 counter_advance(u64 *last, u64 now)
{
	u64 delta = value_excess(now, *last);

	*last += delta;
	return delta;
}

/* Returns @whole * @part / @sum, whose product may need more than 64 bits. */
static __always_inline u64 counter_scale(u64 whole, u64 part, u64 sum)
{
	u64 share;

	if (sum >> 48) {
		sum >>= 24;
		part >>= 24;
	}
	if (sum >> 31) {
		sum >>= 17;
		part >>= 17;
	}
	if (!sum)
		return 0;
	share = (part << 32) / sum;
	return (whole >> 32) * share + ((whole & 0xffffffff) * share >> 32);
}

/*
 * Returns the system share of @cpu; the rest is the user share. Splits by ticks like the kernel's
 * cputime_adjust(). No share falls below its last value, @user and @system.
 */
static __always_inline u64 system_part(u64 cpu, u64 utime, u64 stime, u64 user, u64 system)
{
	u64 part;

	if (!stime)
		part = 0;
	else if (!utime)
		part = cpu;
	else
		part = counter_scale(cpu, stime, stime + utime);
	if (part < system)
		part = system;
	if (part > cpu)
		part = cpu;
	if (cpu - part < user)
		part = cpu > user ? cpu - user : 0;
	return part;
}

/* Returns a number that is unique in this boot. */
static __always_inline u64 serial_new(void)
{
	return bpf_ktime_get_ns() << 10 | (bpf_get_smp_processor_id() & 1023);
}

/*
 * Returns the serial of the process of @task. It depends on @task alone, so it is known while
 * another CPU still fills in the entry.
 */
static __always_inline u64 process_serial(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime) << 10 |
	       (BPF_CORE_READ(task, tgid) & 1023);
}

/*
 * Returns @pointer as a number: the verifier checks a global function once only if its arguments
 * are numbers.
 */
static __always_inline u64 as_number(const void *pointer)
{
	u64 number = 0;

	bpf_probe_read_kernel(&number, sizeof(number), &pointer);
	return number;
}

static __always_inline u32 task_uid(struct task_struct *task)
{
	const struct cred *cred = (const void *)BPF_CORE_READ(task, cred);

	return BPF_CORE_READ(cred, uid.val);
}

/* Pointers are not loaded directly: for each such load the verifier searches all types. */
#define COUNTER_IS_READ(base, field)                                                               \
	((wanted & (1ULL << TC_##base)) && bpf_core_field_exists(((struct task_struct *)0)->field))

#endif
