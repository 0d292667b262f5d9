// SPDX-License-Identifier: BSD-2-Clause
#include "measure/capability.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "bpfmon/shared.h"
#include "measure/energy_part.h"
#include "measure/gpu_reader.h"
#include "measure/optional.h"
#include "measure/pressure.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#define BTF_PATH "/sys/kernel/btf/vmlinux"

/* Loads the BTF once; it is freed at exit. */
static const struct btf *kernel_btf(void)
{
	static struct btf *btf;

	if (!btf)
		btf = btf__load_vmlinux_btf();
	return libbpf_get_error(btf) ? NULL : btf;
}

static bool has_type(const char *name, __u32 kind)
{
	const struct btf *btf = kernel_btf();

	return btf && btf__find_by_name_kind(btf, name, kind) > 0;
}

bool capability_has_tracepoint(const char *name)
{
	char type[64];

	snprintf(type, sizeof(type), "btf_trace_%s", name);
	return has_type(type, BTF_KIND_TYPEDEF);
}

int capability_cgroup_subsys(const char *controller)
{
	const struct btf *btf = kernel_btf();
	__s32 id = btf ? btf__find_by_name_kind(btf, "cgroup_subsys_id", BTF_KIND_ENUM) : -ENOENT;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;
	char name[64];

	snprintf(name, sizeof(name), "%s_cgrp_id",
		 strcmp(controller, "blkio") != 0 ? controller : "io");
	for (__u16 i = 0; t && i < btf_vlen(t); i++)
		if (!strcmp(btf__name_by_offset(btf, btf_enum(t)[i].name_off), name))
			return btf_enum(t)[i].val;
	return -ENOENT;
}

/*
 * Returns true if the address space still exists at the exit hook (from 6.16 on), so that peaks are
 * exact. The commit that gave the hook its second argument moved it before exit_mm().
 */
static bool capability_has_exact_peak(void)
{
	const struct btf *btf = kernel_btf();
	__s32 id =
		btf ? btf__find_by_name_kind(btf, "btf_trace_sched_process_exit", BTF_KIND_TYPEDEF)
		    : -1;
	const struct btf_type *t = id > 0 ? btf__type_by_id(btf, (__u32)id) : NULL;

	while (t && (btf_is_typedef(t) || btf_is_ptr(t)))
		t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) && btf_vlen(t) >= 3; /* context, task, group_dead */
}

static bool is_locked_down(void)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/sys/kernel/security/lockdown", "re");
	char line[128] = "";

	return f && fgets(line, sizeof(line), f) && strstr(line, "[confidentiality]");
}

static int check_kernel(char *why, size_t size)
{
	struct utsname uts;
	int major = 0, minor = 0;

	/* only for a clear message; loading decides */
	if (!uname(&uts) && sscanf(uts.release, "%d.%d", &major, &minor) == 2 &&
	    (major < 5 || (major == 5 && minor < 14))) {
		snprintf(why, size, "this kernel is %d.%d, but 5.14 or later is required", major,
			 minor);
		return -ENOSYS;
	}
	return 0;
}

static int check_privilege(char *why, size_t size)
{
	return permission_check("/proc", why, size);
}

static int check_btf(char *why, size_t size)
{
	if (!access(BTF_PATH, R_OK))
		return 0;
	if (access("/sys/kernel", F_OK))
		snprintf(why, size,
			 "the kernel's type information is in %s, but /sys is not mounted; try: %s",
			 BTF_PATH, "mount -t sysfs sysfs /sys");
	else
		snprintf(why, size,
			 "the kernel has no type information (%s); use one built with "
			 "CONFIG_DEBUG_INFO_BTF",
			 BTF_PATH);
	return -ENOENT;
}

static int check_lockdown(char *why, size_t size)
{
	if (!is_locked_down())
		return 0;
	snprintf(why, size, "%s; boot with lockdown=integrity or none",
		 "the kernel is locked down for confidentiality and forbids reading its memory");
	return -EPERM;
}

static const struct {
	const char *name;
	int (*check)(char *why, size_t size);
} core_checks[] = {
	{ "kernel", check_kernel },
	{ "privilege", check_privilege },
	{ "types", check_btf },
	{ "lockdown", check_lockdown },
};

int capability_core(char *why, size_t size)
{
	for (size_t i = 0; i < sizeof(core_checks) / sizeof(*core_checks); i++) {
		int err = core_checks[i].check(why, size);

		if (err)
			return err;
	}
	return 0;
}

static bool has_runqueue_wait(void)
{
	__cleanup(fclosep) FILE *f = memory_fopen("/proc/self/schedstat", "re");
	unsigned long long ran, waited, slices = 0;

	/* without CONFIG_SCHED_INFO the file is absent or all zero */
	return f && fscanf(f, "%llu %llu %llu", &ran, &waited, &slices) == 3 && slices;
}

static bool has_pressure(void)
{
	struct pressure p;
	bool has = !pressure_open(&p, HOST_MEMORY_PRESSURE);

	pressure_done(&p);
	return has;
}

#define NO_CGROUP "only for a cgroup v2; see attach --cgroup and --own-cgroup"

/* Programs without which a metric is unknown. */
static const struct needed_program {
	enum metric_id metric;
	enum optional program;
} needed_programs[] = {
#define NET_METRIC(base, group, kind, unit, program, help) { M_##base, OPTIONAL_##program },
#define REST_METRIC(base, ...) { M_##base, OPTIONAL_KINDS },
#define SOCKET_METRIC NET_METRIC
#define WIRE_METRIC NET_METRIC
#include "bpfmon/metrics.def"
/* with only one of the programs, devices would be missing */
#define BLOCK_METRIC(base, ...) { M_##base, OPTIONAL_BLOCK }, { M_##base, OPTIONAL_BLOCK_BIOS },
#include "bpfmon/metrics.def"
	/* sockets from before an attach would be missing */
	{ M_net_accepts, OPTIONAL_SEED_SOCKETS },
	{ M_net_retransmits, OPTIONAL_SEED_SOCKETS },
	{ M_net_sockets, OPTIONAL_SEED_SOCKETS },
};

/* Returns why @program does not count, or NULL if it does or is not wanted. */
static const char *program_why_missing(enum optional program, const struct optionals *programs)
{
	const enum optional instead_of = optional_row(program)->instead_of;

	/*
	 * No reason: the program was not needed, because the tracepoint counts the same or is
	 * missing itself.
	 */
	if (instead_of != NR_OPTIONALS && !(programs->there & OPTIONAL_BIT(program)) &&
	    !programs->missing[program][0])
		program = instead_of;
	if (programs->there & OPTIONAL_BIT(program))
		return NULL;
	if (programs->missing[program][0])
		return programs->missing[program];
	return optional_row(program)->when == WHEN_WIRE_CGROUP ? NO_CGROUP : NULL;
}

/* Returns why a program that the metric needs is missing, or NULL. */
static const char *metric_why_uncounted(enum metric_id id, const struct optionals *programs)
{
	const char *why = NULL;

	for (size_t i = 0; !why && i < sizeof(needed_programs) / sizeof(*needed_programs); i++)
		if (needed_programs[i].metric == id)
			why = program_why_missing(needed_programs[i].program, programs);
	return why;
}

const char capability_delays_off[] = "disabled: " CAPABILITY_DELAYS_SWITCH;

static const char *why_not_in_tasks(enum metric_id id)
{
	if (id == M_irq_delay)
		return "kernel built without CONFIG_IRQ_TIME_ACCOUNTING";
	if (metric_get(id)->source == SOURCE_DELAY)
		return "not provided by the kernel: needs CONFIG_TASK_DELAY_ACCT, and may need a "
		       "newer kernel";
	if (metric_get(id)->group == GROUP_IO)
		return "kernel built without CONFIG_TASK_IO_ACCOUNTING";
	return "not provided by the kernel for a task";
}

const char *capability_why_no_hardware(enum metric_source source)
{
	if (source == SOURCE_GPU || source == SOURCE_GPU_DEVICE)
		return gpus_why_missing();
	if (source == SOURCE_ENERGY || source == SOURCE_HOST_ENERGY)
		return energy_why_missing();
	return NULL;
}

static const char *metric_why_unusable(enum metric_id id, uint64_t task_fields)
{
	static const uint64_t field_bit[NR_METRICS] = {
#define TASK_METRIC(base, ...) [M_##base] = 1ULL << TC_##base,
#define REST_METRIC(base, group, kind, unit, of, help) [M_##base] = 1ULL << TC_##of,
#include "bpfmon/metrics.def"
	};

	if (field_bit[id] && !(task_fields & field_bit[id]))
		return why_not_in_tasks(id);
	if (metric_get(id)->source == SOURCE_DELAY && !task_delays_are_kept())
		return capability_delays_off;
	if (id == M_runqueue_wait && !has_runqueue_wait())
		return "not provided by the kernel: needs CONFIG_SCHED_INFO";
	if (metric_get(id)->source == SOURCE_PROCFS && access("/proc/self/smaps_rollup", R_OK))
		return "not provided by the kernel: needs CONFIG_PROC_PAGE_MONITOR";
	if (metric_get(id)->source == SOURCE_WAIT && access("/proc/self/wchan", R_OK))
		return "not provided by the kernel: needs CONFIG_KALLSYMS";
	if (metric_get(id)->source == SOURCE_HOST && !has_pressure())
		return "not provided by the kernel: needs CONFIG_PSI, and may need psi=1 at boot";
	return capability_why_no_hardware(metric_get(id)->source);
}

void capability_metrics(const struct metric_set *wanted, uint64_t task_fields,
			const struct optionals *programs, struct metric_set *usable,
			const char *unusable[NR_METRICS])
{
	memset(usable, 0, sizeof(*usable));
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		unusable[i] = NULL;
		if (!metric_has(wanted, id))
			continue;
		unusable[i] = metric_why_uncounted(id, programs);
		if (!unusable[i])
			unusable[i] = metric_why_unusable(id, task_fields);
		if (!unusable[i])
			metric_put(usable, id);
	}
}

void capability_each(void (*fn)(void *context, const char *name, bool available, const char *why),
		     void *context)
{
	static const char *const hooks[] = { "task_newtask", "sched_process_fork",
					     "sched_process_exec", "sched_process_exit",
					     "sched_process_free" };
	char why[5000] = "";
	struct cgroup parent;

	for (size_t i = 0; i < sizeof(core_checks) / sizeof(*core_checks); i++)
		fn(context, core_checks[i].name, !core_checks[i].check(why, sizeof(why)), why);
	for (size_t i = 0; i < sizeof(hooks) / sizeof(*hooks); i++)
		fn(context, hooks[i], capability_has_tracepoint(hooks[i]),
		   "the kernel lacks this tracepoint; use 5.14 or later");
	fn(context, "peaks of last images", capability_has_exact_peak(),
	   "the address space is gone at exit (before 6.16); some peaks are upper bounds");
	fn(context, "place for a cgroup",
	   !cgroup_find_parent("/proc/self", &parent, why, sizeof(why)), why);
}

static FILE *open_self(const char *proc, const char *name)
{
	char path[300];

	snprintf(path, sizeof(path), "%s/self/%s", proc, name);
	return memory_fopen(path, "re");
}

/* Reads a value from /proc/self/status. Returns false without @key. */
static bool read_status(const char *proc, const char *key, const char *format, uint64_t *value)
{
	__cleanup(fclosep) FILE *f = open_self(proc, "status");
	size_t n = strlen(key);
	char line[512];

	while (f && fgets(line, sizeof(line), f))
		if (!strncmp(line, key, n))
			return sscanf(line + n, format, value) == 1;
	return false;
}

/* The initial user namespace maps all users to themselves in one line. */
static bool is_in_a_user_namespace(const char *proc)
{
	__cleanup(fclosep) FILE *f = open_self(proc, "uid_map");
	uint64_t inside, outside, count;

	return f && fscanf(f, "%" SCNu64 " %" SCNu64 " %" SCNu64, &inside, &outside, &count) == 3 &&
	       (inside || outside || count < UINT32_MAX);
}

static bool has_seccomp_filter(const char *proc)
{
	uint64_t mode;

	return read_status(proc, "Seccomp:", "%" SCNu64, &mode) && mode == 2;
}

int permission_check(const char *proc, char *why, size_t size)
{
	const uint64_t admin = 1ULL << CAP_SYS_ADMIN, both = 1ULL << CAP_BPF | 1ULL << CAP_PERFMON;
	uint64_t caps = 0, uid = 1;

	read_status(proc, "CapEff:", "%" SCNx64, &caps);
	read_status(proc, "Uid:", "%*u %" SCNu64, &uid);
	if (!(caps & admin) && (caps & both) != both) {
		snprintf(why, size, "tracking processes needs root, or CAP_BPF and CAP_PERFMON; %s",
			 uid ? "try sudo bpfmon"
			     : "root has neither here; start the container with --privileged, or "
			       "add both");
		return -EPERM;
	}
	if (is_in_a_user_namespace(proc)) {
		snprintf(why, size,
			 "tracking processes needs root outside of user namespaces, but bpfmon "
			 "runs in one (a rootless container?); start it outside");
		return -EPERM;
	}
	return 0;
}

const char *permission_hint(const char *proc)
{
	if (has_seccomp_filter(proc))
		return "; a seccomp filter may be the cause: start the container with --privileged "
		       "or --security-opt seccomp=unconfined";
	return NULL;
}
