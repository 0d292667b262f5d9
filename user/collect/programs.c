// SPDX-License-Identifier: BSD-2-Clause
#include "collect/programs.h"

#include "base/cleanup.h"
#include "base/heap.h"
#include "bpfmon.skel.h"
#include "collect/capability.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#define MAX_TASKS_DEFAULT 8192
#define LOAD_BYTES (30 << 20) /* the types of the kernel, twice, and what is made of them */

static int be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* With --verbose, what libbpf and the kernel's verifier say of a program that does not load. */
static int be_verbose(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/* Up to 5.10 maps are charged to RLIMIT_MEMLOCK; later kernels do not look at it. */
static void memlock_raise(void)
{
	struct rlimit all = { RLIM_INFINITY, RLIM_INFINITY };

	setrlimit(RLIMIT_MEMLOCK, &all);
}

/* A drain looks into every bucket of the map, used or not: no more room than is likely needed. */
static unsigned max_tasks_default(void)
{
	unsigned now = 0;
	__cleanup(fclosep) FILE *f = fopen("/proc/loadavg", "re");

	if (!f || fscanf(f, "%*s %*s %*s %*u/%u", &now) != 1)
		return MAX_TASKS_DEFAULT;
	return now > MAX_TASKS_DEFAULT / 4 ? now * 4 : MAX_TASKS_DEFAULT;
}

static void cgroup_set(struct bpfmon *s, const struct cgroup_target *t)
{
	s->rodata->by_cgroup = t != NULL;
	if (!t)
		return;
	s->rodata->cgroup_subsys = t->cg.is_v2 ? -1 : capability_cgroup_subsys(t->controller);
	s->rodata->cgroup_hierarchy = t->hierarchy;
	if (strlen(t->in_kernel) < sizeof(s->rodata->target_path))
		memcpy((void *)s->rodata->target_path, t->in_kernel, strlen(t->in_kernel));
}

static void knobs_set(struct bpfmon *s, const struct tracker_options *o, bool has_lock)
{
	unsigned max_tasks = o->max_tasks ? o->max_tasks : max_tasks_default();

	s->rodata->has_lock = has_lock;
	s->rodata->can_seed = o->can_seed;
	cgroup_set(s, o->cgroup);
	s->rodata->want_memory = metric_set_has_source(&o->wanted, SOURCE_MEMORY) ||
				 metric_set_has_source(&o->wanted, SOURCE_PROCFS);
	s->rodata->wanted = 0;
#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(&o->wanted, M_##base))                                                      \
		s->rodata->wanted |= 1ULL << TC_##base;
#include "bpfmon/metrics.def"
	/* a split needs its whole; so do the cores in use */
	if (metric_has(&o->wanted, M_user) || metric_has(&o->wanted, M_system) ||
	    metric_has(&o->wanted, M_cores))
		s->rodata->wanted |= 1ULL << TC_cpu;
	s->rodata->want_args = !o->no_args;
	s->rodata->want_exact_peak = o->exact_peak && has_lock;
	s->rodata->inject_misses = o->inject_misses;
	s->rodata->nr_cpus = (unsigned)libbpf_num_possible_cpus();
	s->bss->misses_seen = o->inject_misses > 0;
	bpf_map__set_max_entries(s->maps.tasks, max_tasks);
	bpf_map__set_max_entries(s->maps.processes, max_tasks);
	bpf_map__set_max_entries(s->maps.ended, has_lock ? 1 : max_tasks);
	bpf_map__set_max_entries(s->maps.mms, o->exact_peak ? max_tasks : 1);
}

/* Programs that not every kernel takes; without them only what they tell goes missing. */
static void optional_programs(struct bpfmon *s, bool all)
{
	bpf_program__set_autoload(
		s->progs.memory__offsets,
		all || (capability_has_percpu_rss() && capability_has_syscall_programs()));
	s->rodata->knows_old_image = all || capability_has_tracepoint("sched_prepare_exec");
	bpf_program__set_autoload(s->progs.memory__prepare_exec, s->rodata->knows_old_image);
	bpf_program__set_autoload(s->progs.oom__victim,
				  all || capability_has_tracepoint("mark_victim"));
	bpf_program__set_autoload(s->progs.cgroup__attach_task,
				  s->rodata->by_cgroup &&
					  (all || capability_has_tracepoint("cgroup_attach_task")));
	bpf_program__set_autoload(s->progs.cgroup__mkdir,
				  s->rodata->by_cgroup &&
					  (all || capability_has_tracepoint("cgroup_mkdir")));
	bpf_program__set_autoload(s->progs.cgroup__rmdir,
				  s->rodata->by_cgroup &&
					  (all || capability_has_tracepoint("cgroup_rmdir")));
	bpf_program__set_autoload(s->progs.peak__rss,
				  s->rodata->want_exact_peak &&
					  (all || capability_has_tracepoint("rss_stat")));
}

static int open_and_load(struct bpfmon **skel, const struct tracker_options *o, bool all,
			 bool has_lock)
{
	int err;

	*skel = bpfmon__open();
	if (!*skel) {
		err = errno;
		return err > 0 ? -err : -EINVAL;
	}
	knobs_set(*skel, o, has_lock);
	optional_programs(*skel, all);
	err = bpfmon__load(*skel);
	if (err) {
		bpfmon__destroy(*skel);
		*skel = NULL;
	}
	return err;
}

/* Where it does not run, resident memory is the central part of the kernel's counters. */
static void offsets_find(const struct bpfmon *skel)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, run);
	int fd = bpf_program__fd(skel->progs.memory__offsets);

	if (fd >= 0)
		bpf_prog_test_run_opts(fd, &run);
}

/* Trying all is quicker than asking first what this kernel has: asked only when it refuses. */
int programs_load(struct bpfmon **skel, const struct tracker_options *o, char *why, size_t size)
{
	int err;

	libbpf_set_print(o->verbose ? be_verbose : be_quiet);
	memlock_raise();
	heap_expect(LOAD_BYTES);
	err = open_and_load(skel, o, true, true);
	if (err)
		err = open_and_load(skel, o, false, true);
	if (err)
		err = open_and_load(skel, o, false, false);
	heap_settle();
	if (!err && *skel)
		offsets_find(*skel);
	else
		snprintf(why, size, "the kernel did not load the programs: %s", strerror(-err));
	return err;
}

int programs_attach(struct bpfmon *skel, struct bpf_link **adopt, struct bpf_link **drain,
		    char *why, size_t size)
{
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options);
	union bpf_iter_link_info info = { .map.map_fd = (__u32)bpf_map__fd(skel->maps.tasks) };
	int err;

	bpf_program__set_autoattach(skel->progs.drain__tasks, false);
	bpf_program__set_autoattach(skel->progs.follow__adopt, false);
	err = bpfmon__attach(skel);
	if (err) {
		snprintf(why, size, "the kernel did not attach the programs: %s", strerror(-err));
		return err;
	}
	*adopt = bpf_program__attach_iter(skel->progs.follow__adopt, NULL);
	options.link_info = &info;
	options.link_info_len = sizeof(info);
	*drain = bpf_program__attach_iter(skel->progs.drain__tasks, &options);
	if (*adopt && *drain)
		return 0;
	err = -errno;
	snprintf(why, size, "the kernel has no iterators over tasks and map elements: %s",
		 strerror(-err));
	return err;
}
