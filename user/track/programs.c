// SPDX-License-Identifier: BSD-2-Clause
#include "track/programs.h"

#include "base/cleanup.h"
#include "base/heap.h"
#include "bpfmon.skel.h"
#include "track/capability.h"
#include "track/iterator.h"
#include "track/permission.h"
#include "track/small_btf.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_TASKS_LEAST 8192
#define MAX_TASKS_MOST 32768
#define MEMORY_FOR_MORE (2ULL << 30)
#define BUCKET_NS 17
#define UNIFIED (-1)          /* as cgroup_subsys */
#define LOAD_BYTES (30 << 20) /* the types of the kernel, twice, and what is derived from them */

static int libbpf_be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* With --verbose: prints what libbpf and the verifier report of a program that does not load. */
static int libbpf_be_verbose(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/*
 * Dead tasks stay in the map until the kernel frees them, which it may delay for 10,000 of them.
 * But a drain reads every bucket of the map, used or not: that is to take no more than a hundredth
 * of the time between samples. A machine with little memory gets MAX_TASKS_LEAST.
 */
static unsigned max_tasks_default(uint64_t interval_ns)
{
	const uint64_t affordable = interval_ns / 100 / BUCKET_NS;
	unsigned now = 0, room = MAX_TASKS_LEAST;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	__cleanup(fclosep) FILE *f = fopen("/proc/loadavg", "re");

	while (memory >= MEMORY_FOR_MORE && room < MAX_TASKS_MOST && room * 2ULL <= affordable)
		room *= 2;
	if (f && fscanf(f, "%*s %*s %*s %*u/%u", &now) == 1 && now > room / 4)
		room = now * 4;
	return room;
}

static void cgroup_set(struct bpfmon *s, const struct cgroup_target *t)
{
	s->rodata->by_cgroup = t != NULL;
	if (!t)
		return;
	s->rodata->cgroup_subsys = t->cg.is_v2 ? UNIFIED : capability_cgroup_subsys(t->controller);
	s->rodata->cgroup_hierarchy = t->hierarchy;
	if (strlen(t->in_kernel) < sizeof(s->rodata->target_path))
		memcpy((void *)s->rodata->target_path, t->in_kernel, strlen(t->in_kernel));
}

static void knobs_set(struct bpfmon *s, const struct tracker_options *o, unsigned set)
{
	unsigned max_tasks = o->max_tasks ? o->max_tasks : max_tasks_default(o->interval_ns);

	s->rodata->can_seed = o->can_seed;
	cgroup_set(s, o->cgroup);
	s->rodata->want_memory = metric_set_has_source(&o->wanted, SOURCE_MEMORY) ||
				 metric_set_has_source(&o->wanted, SOURCE_PROCFS) || o->want_memory;
	s->rodata->wanted = 0;
#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(&o->wanted, M_##base))                                                      \
		s->rodata->wanted |= 1ULL << TC_##base;
#include "bpfmon/metrics.def"
	/* user and system are parts of cpu, and the cores in use are computed from it */
	if (metric_has(&o->wanted, M_user) || metric_has(&o->wanted, M_system) ||
	    metric_has(&o->wanted, M_cores))
		s->rodata->wanted |= 1ULL << TC_cpu;
	s->rodata->want_args = !o->no_args;
	s->rodata->want_exact_peak = set & OPTIONAL_BIT(OPTIONAL_EXACT_PEAK);
	s->rodata->inject_misses = o->inject_misses;
	s->rodata->nr_cpus = (unsigned)libbpf_num_possible_cpus();
	s->bss->misses_seen = o->inject_misses > 0;
	bpf_map__set_max_entries(s->maps.tasks, max_tasks);
	bpf_map__set_max_entries(s->maps.processes, max_tasks);
	bpf_map__set_max_entries(s->maps.mms, o->exact_peak ? max_tasks : 1);
}

/*
 * Opens with the small copy of the kernel's types in place of all of them, if that can be made:
 * relocations are the same with it, and found in a tenth of the time. *@fd is to be closed after
 * loading.
 */
static struct bpfmon *skeleton_open(int *fd)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, options);
	struct bpfmon *skel;
	char path[64];

	*fd = memfd_create("bpfmon-types", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", *fd);
	options.btf_custom_path = path;
	skel = *fd >= 0 && !access(path, R_OK) ? bpfmon__open_opts(&options) : NULL;
	if (skel && !small_btf_write(*fd, bpf_object__btf(skel->obj)))
		return skel;
	bpfmon__destroy(skel);
	return bpfmon__open();
}

/* Loads the programs, of the optional ones only those of @set. */
static int open_and_load(struct bpfmon **skel, const struct tracker_options *o, unsigned set)
{
	const struct optional_row *row;
	__cleanup(closep) int fd = -1;
	struct bpf_program *p;
	int err;

	if (set & o->refused)
		return -EPERM; /* for tests: as if the kernel refused */
	*skel = skeleton_open(&fd);
	if (!*skel) {
		err = errno;
		return err > 0 ? -err : -EINVAL;
	}
	knobs_set(*skel, o, set);
	for (size_t i = 0; (row = optional_row(i)); i++) {
		p = bpf_object__find_program_by_name((*skel)->obj, row->name);
		if (!p)
			continue;
		bpf_program__set_autoload(p, set & OPTIONAL_BIT(i));
		bpf_program__set_autoattach(p, false);
	}
	err = bpfmon__load(*skel);
	if (err) {
		bpfmon__destroy(*skel);
		*skel = NULL;
	}
	return err;
}

static bool can_load(const struct tracker_options *o, unsigned set)
{
	struct bpfmon *skel;

	if (open_and_load(&skel, o, set))
		return false;
	bpfmon__destroy(skel);
	return true;
}

/* The kernel has what those of @set need, but refuses one: tries each alone to find which. */
static int load_accepted(struct bpfmon **skel, const struct tracker_options *o, unsigned *set)
{
	unsigned accepted = 0;

	for (unsigned bit = 1; bit & OPTIONAL_ALL; bit <<= 1)
		if (*set & bit && can_load(o, bit))
			accepted |= bit;
	*set = accepted;
	return open_and_load(skel, o, *set);
}

/* Loading all is quicker than first finding out what this kernel has: done only if it refuses. */
static int programs_load_optional(struct bpfmon **skel, const struct tracker_options *o,
				  struct optionals *x)
{
	unsigned wanted = OPTIONAL_ALL, asked = 0;
	int err;

	if (!o->exact_peak)
		wanted &= ~OPTIONAL_BIT(OPTIONAL_EXACT_PEAK);
	if (!o->cgroup)
		wanted &= ~OPTIONAL_OF_CGROUP;
	x->there = wanted;
	err = open_and_load(skel, o, wanted);
	if (!err)
		return 0;
	if (!capability_has_percpu_rss())
		wanted &= ~OPTIONAL_BIT(OPTIONAL_OFFSETS);
	asked = x->there = optional_asked(wanted);
	err = open_and_load(skel, o, asked);
	if (err)
		err = load_accepted(skel, o, &x->there);
	optionals_explain(x, wanted, asked);
	return err;
}

int programs_load(struct bpfmon **skel, const struct tracker_options *o, struct optionals *x,
		  char *why, size_t size)
{
	const char *hint = permission_hint("/proc");
	int err;

	if (o->cgroup && !o->cgroup->cg.is_v2 &&
	    capability_cgroup_subsys(o->cgroup->controller) < 0) {
		snprintf(why, size, "the kernel's types do not contain the controller '%s'",
			 o->cgroup->controller);
		return -ENOENT;
	}
	libbpf_set_print(o->verbose ? libbpf_be_verbose : libbpf_be_quiet);
	heap_prepare(LOAD_BYTES);
	err = programs_load_optional(skel, o, x);
	heap_settle();
	if (err)
		snprintf(why, size, "the kernel did not load the programs: %s%s", strerror(-err),
			 hint && err == -EPERM ? hint : "");
	return err;
}

int programs_attach(struct tracker *t, char *why, size_t size)
{
	struct bpfmon *skel = t->skel;
	int err;

	bpf_program__set_autoattach(skel->progs.follow__adopt, false);
	bpf_program__set_autoattach(skel->progs.drain__tasks, false);
	bpf_program__set_autoattach(skel->progs.reassign__process, false);
	bpf_program__set_autoattach(skel->progs.reassign__account, false);
	err = bpfmon__attach(skel);
	if (err) {
		snprintf(why, size, "the kernel did not attach the programs: %s", strerror(-err));
		return err;
	}
	t->adopt_link = bpf_program__attach_iter(skel->progs.follow__adopt, NULL);
	t->drain_link = iterator_over_map(skel->progs.drain__tasks, skel->maps.tasks);
	t->retire_link = iterator_over_map(skel->progs.reassign__account, skel->maps.processes);
	if (t->adopt_link && t->drain_link && t->retire_link)
		return 0;
	err = -errno;
	snprintf(why, size, "the kernel has no iterators over tasks and map elements: %s",
		 strerror(-err));
	return err;
}
