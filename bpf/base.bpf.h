/* SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause) */
/* The first rung of bpf/: types, knobs, arithmetic, and what is computed of a kernel object alone.
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

/* Knobs, set between open and load. */
extern const volatile __u64 wanted;             /* bit per enum task_counter */
extern const volatile bool want_memory;         /* rss, vms, swap of live processes */
extern const volatile bool want_exact_peak;     /* the tree's, event by event */
extern const volatile bool want_calls;          /* what calls move */
extern const volatile bool want_args;           /* command lines, in exec events */
extern const volatile __u32 inject_misses;      /* for tests: events to ignore, in thousandths */
extern const volatile __u32 inject_free_misses; /* the same, of the last event of a task */
extern const volatile __u32 nr_cpus;
extern const volatile bool can_seed;  /* attach to processes that run already */
extern const volatile bool by_cgroup; /* membership is decided by cgroup, not by lineage */
extern const volatile bool
	whole_node; /* all tasks are followed, each in an account of its cgroup */

/* Set by the collector while it runs. */
extern struct tracking tracking;
extern __u32 target_level;
extern __u64 seeded_at_ns;
extern bool seeding;     /* tasks met now existed before the attach: they count from now on */
extern bool misses_seen; /* events were missed: a process may have threads without entries */
extern __u64 nr_refused; /* tasks that the maps have no room for, now */
extern struct account_key root_account;
extern struct pass drain_pass;

/* Only the task itself adds to @now, and not to its sums; commits do these, and bring @done up to
 * it.
 */
struct call_entry {
	u64 task;     /* of a slot: its key, or 0 */
	u64 start_ns; /* of the task, as in a task_entry */
	u64 opening;  /* of connect(), until it sends a SYN: 1 + how often the task had slept */
	struct call_counters now, done;
	struct peer_key to; /* where the datagram under way goes, if the call has an address, and
			       the socket a peer; else its protocol is 0 */
};

#define add(var, n) __sync_fetch_and_add(&(var), n)

/*
 * Comparisons without a branch, after which the verifier would walk the rest of the program twice.
 * barrier_var() keeps the compiler from making a branch of them. Values are below 2^63.
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

/* Returns @a if @condition is 1, and @b if it is 0. */
static __always_inline u64 value_choose(u64 condition, u64 a, u64 b)
{
	return b ^ ((a ^ b) & -condition);
}

/* Returns @a - @b, or 0 if @b is the larger one. */
static __always_inline u64 value_excess(u64 a, u64 b)
{
	return (a - b) & (is_less(a, b) - 1);
}

/* One task that a drain with this mark, as in a task_entry, has met; in tracking.tasks. */
static __always_inline u64 met_one(u64 mark)
{
	return 1ULL << tasks_met_shift(mark >> 1);
}

/* Pages of the three kinds of memory that a CPU may not yet have added to the central counters. */
static __always_inline u64 rss_batch_pages(void)
{
	return 3 * (nr_cpus * 2 > 32 ? nr_cpus * 2 : 32);
}

/* Pages by which a mark, made of these, may be below what was really held. */
static __always_inline u64 mark_error_pages(void)
{
	return rss_batch_pages() * nr_cpus;
}

/* Returns the increase since the last commit, or 0 if there is none, and advances @last by it. */
static __always_inline u64 counter_advance(u64 *last, u64 now)
{
	u64 delta = value_excess(now, *last);

	*last += delta;
	return delta;
}

/* @whole * @part / @sum, where the product may need more than 64 bits. */
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
 * The system part of @cpu; the rest is the user part. They are split by the ticks, as the kernel's
 * cputime_adjust() does, and neither part is less than it was before.
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

/* A number that no other call in this boot returns. */
static __always_inline u64 serial_new(void)
{
	return bpf_ktime_get_ns() << 10 | (bpf_get_smp_processor_id() & 1023);
}

/* Computed from @task alone: known also while another CPU still fills in the entry. */
static __always_inline u64 process_serial(struct task_struct *task)
{
	return BPF_CORE_READ(task, group_leader, start_boottime) << 10 |
	       (BPF_CORE_READ(task, tgid) & 1023);
}

/* @pointer as a number, the only kind of argument of a function that is verified once. */
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

/* Pointers are never loaded directly: for each such load the verifier searches all types. */
#define COUNTER_IS_READ(base, field)                                                               \
	((wanted & (1ULL << TC_##base)) && bpf_core_field_exists(((struct task_struct *)0)->field))

#endif
