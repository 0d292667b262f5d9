// SPDX-License-Identifier: BSD-2-Clause
#include "measure/programs.h"

#include "base/cleanup.h"
#include "base/memory.h"
#include "base/user.h"
#include "bpfmon.skel.h"
#include "measure/capability.h"
#include "measure/iterator.h"
#include "measure/kept.h"
#include "measure/kernel_btf.h"
#include "measure/loader.h"
#include "measure/program_type.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_TASKS_LEAST 8192
#define MAX_TASKS_MOST 32768
#define MEMORY_FOR_MORE (2ULL << 30)
#define BUCKET_NS 17
#define UNIFIED (-1)         /* value of cgroup_subsys for cgroup v2 */
#define IO_STAT_OF_MACROS 13 /* bit of RQF_IO_STAT up to 6.10, where it is a macro */

static int libbpf_be_quiet(enum libbpf_print_level level, const char *format, va_list args)
{
	(void)level, (void)format, (void)args;
	return 0;
}

/* With --verbose: prints what libbpf and the verifier report about a program that does not load. */
static int libbpf_be_verbose(enum libbpf_print_level level, const char *format, va_list args)
{
	return level == LIBBPF_WARN ? vfprintf(stderr, format, args) : 0;
}

/*
 * Dead tasks stay in the map until the kernel frees them, which it may delay for 10,000 of them.
 * But a drain reads every bucket, used or not, which may take a hundredth of the interval. A
 * machine with little memory gets MAX_TASKS_LEAST.
 */
static unsigned max_tasks_default(uint64_t interval_ns)
{
	const uint64_t affordable = interval_ns / 100 / BUCKET_NS;
	unsigned now = 0, room = MAX_TASKS_LEAST;
	uint64_t memory = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
	__cleanup(fclosep) FILE *f = memory_fopen("/proc/loadavg", "re");

	while (memory >= MEMORY_FOR_MORE && room < MAX_TASKS_MOST && room * 2ULL <= affordable)
		room *= 2;
	if (f && fscanf(f, "%*s %*s %*s %*u/%u", &now) == 1 && now > room / 4)
		room = now * 4;
	return room < MAX_TASKS ? room : MAX_TASKS;
}

static void cgroup_set(struct bpfmon *s, const struct cgroup_target *t, bool whole_node)
{
	s->rodata->by_cgroup = t && !whole_node;
	s->rodata->whole_node = whole_node;
	if (!t)
		return;
	s->rodata->cgroup_subsys = t->cg.is_v2 ? UNIFIED : capability_cgroup_subsys(t->controller);
	s->rodata->cgroup_hierarchy = t->hierarchy;
	if (strlen(t->in_kernel) < sizeof(s->rodata->target_path))
		memcpy((void *)s->rodata->target_path, t->in_kernel, strlen(t->in_kernel));
}

/* Returns the flag of requests that the kernel times. */
static uint32_t timed_flag(void)
{
	struct kernel_btf k;
	int64_t bit;

	if (kernel_btf_open(&k))
		return 0;
	bit = kernel_btf_enumerator(&k, "__RQF_IO_STAT");
	kernel_btf_close(&k);
	return 1U << (bit < 0 ? IO_STAT_OF_MACROS : bit);
}

static unsigned max_tasks_choose(const struct tracker_options *o)
{
	unsigned kept, there;

	if (o->max_tasks || !o->kept)
		return o->max_tasks ? o->max_tasks : max_tasks_default(o->interval_ns);
	kept_settings(o->kept, &kept, &there);
	return kept;
}

static void knobs_set(struct bpfmon *s, const struct tracker_options *o, unsigned set)
{
	const bool wants_net = metric_set_has_source(&o->wanted, SOURCE_NET);
	unsigned max_tasks = max_tasks_choose(o);

	s->rodata->can_seed = o->can_seed;
	cgroup_set(s, o->cgroup, o->whole_node);
	s->rodata->only_runs = o->only_runs;
	s->rodata->want_memory = metric_set_has_source(&o->wanted, SOURCE_MEMORY) ||
				 metric_set_has_source(&o->wanted, SOURCE_PROCFS) || o->want_memory;
	s->rodata->wanted = 0;
#define TASK_METRIC(base, ...)                                                                     \
	if (metric_has(&o->wanted, M_##base))                                                      \
		s->rodata->wanted |= 1ULL << TC_##base;
#include "bpfmon/metrics.def"
	/* user and system are parts of cpu, and cores is computed from it */
	if (metric_has(&o->wanted, M_user) || metric_has(&o->wanted, M_system) ||
	    metric_has(&o->wanted, M_cores))
		s->rodata->wanted |= 1ULL << TC_cpu;
#define REST_METRIC(base, group, kind, unit, of, help)                                             \
	if (metric_has(&o->wanted, M_##base))                                                      \
		s->rodata->wanted |= 1ULL << TC_##of;
#include "bpfmon/metrics.def"
	s->rodata->want_calls = wants_net || metric_set_has_source(&o->wanted, SOURCE_KINDS);
	s->rodata->want_peers = wants_net && o->net_peers && !o->whole_node;
	bpf_map__set_max_entries(s->maps.peers, s->rodata->want_peers ? MAX_PEERS : 1);
	s->rodata->want_args = !o->no_args;
	s->rodata->want_exact_peak = set & OPTIONAL_BIT(OPTIONAL_EXACT_PEAK);
	s->rodata->inject_misses = o->inject_misses;
	s->rodata->inject_free_misses = o->inject_free_misses;
	s->rodata->nr_cpus = (unsigned)libbpf_num_possible_cpus();
	s->bss->misses_seen = o->inject_misses > 0;
	bpf_map__set_max_entries(s->maps.accounts, o->whole_node ? NODE_ACCOUNTS : MAX_ACCOUNTS);
	bpf_map__set_max_entries(s->maps.tasks, max_tasks);
	bpf_map__set_max_entries(s->maps.processes, max_tasks);
	bpf_map__set_max_entries(s->maps.call_tasks, s->rodata->want_calls ? max_tasks : 1);
	bpf_map__set_max_entries(s->maps.call_slots, s->rodata->want_calls ? CALL_SLOTS : 1);
	s->rodata->nr_drain_rows = o->rows ? o->rows : max_tasks / 8 + 1;
	bpf_map__set_max_entries(s->maps.drain_rows, s->rodata->nr_drain_rows);
	bpf_map__set_autocreate(s->maps.owners, wants_net);
	bpf_map__set_max_entries(s->maps.live_sockets, o->whole_node ? NODE_SOCKETS : MAX_SOCKETS);
	bpf_map__set_autocreate(s->maps.live_sockets, wants_net);
	bpf_map__set_autocreate(s->maps.socket_rows, wants_net);
	bpf_map__set_max_entries(s->maps.blocks,
				 set & OPTIONAL_BIT(OPTIONAL_BLOCK) ? MAX_BLOCKS : 1);
	s->rodata->block_timed_flag = set & OPTIONAL_BIT(OPTIONAL_BLOCK) ? timed_flag() : 0;
	bpf_map__set_max_entries(s->maps.mms, o->exact_peak ? max_tasks : 1);
}

struct attempt {
	const struct tracker_options *options;
	struct loader loader;
	unsigned set;     /* optional programs to load */
	unsigned refused; /* those that the kernel refused */
	char fatal[256];  /* why a required program was refused, or empty */
	char why[NR_OPTIONALS][REFUSAL_BYTES];
};

static void refusal_explain(const struct bpf_program *p, int err, char *why, size_t size)
{
	const struct program_type *type = program_type_find(bpf_program__section_name(p));

	if (err == -EPERM || err == -EACCES || err == -EOPNOTSUPP)
		program_type_explain(type, err, why, size);
	else
		snprintf(why, size, "the kernel refused program %s of type %s: %s",
			 bpf_program__name(p), type->name, strerror(-err));
}

static void refused_note(void *context, const struct bpf_program *p, int err)
{
	const char *name = bpf_program__name(p);
	struct attempt *a = context;
	unsigned bit = optional_find(name, strlen(name));
	size_t n;

	a->refused |= bit;
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (bit & OPTIONAL_BIT(i))
			refusal_explain(p, err, a->why[i], sizeof(a->why[i]));
	if (bit || *a->fatal)
		return;
	refusal_explain(p, err, a->fatal, sizeof(a->fatal));
	n = strlen(a->fatal);
	if (!strstr(a->fatal, name))
		snprintf(a->fatal + n, sizeof(a->fatal) - n, "; program %s needs it", name);
}

/* Returns the programs that are redundant with @set. */
static unsigned optionals_needless(unsigned set)
{
	const struct optional_row *row;
	unsigned bits = 0;

	for (size_t i = 0; (row = optional_row(i)); i++)
		if (row->instead_of != NR_OPTIONALS && set & OPTIONAL_BIT(row->instead_of))
			bits |= OPTIONAL_BIT(i);
	return bits;
}

static bool optional_applies(enum optional_when when, const struct tracker_options *o,
			     const struct loader *l)
{
	switch (when) {
	case WHEN_RSS_IS_PER_CPU:
		return loader_has_percpu_rss(l);
	case WHEN_EXACT_PEAK:
		return o->exact_peak;
	case WHEN_CGROUP:
		return o->cgroup;
	case WHEN_SEED:
		return o->can_seed;
	case WHEN_PEERS:
		return o->net_peers && !o->whole_node;
	case WHEN_WIRE_CGROUP:
		return o->wire_cgroup;
	case WHEN_RUN_MAY_END:
		return o->may_end;
	case ALWAYS:
	case WHEN_NET_ADMIN:      /* its lack is reported: see optionals_permitted() */
	case WHEN_TIMERS_MAY_RUN: /* likewise: see optional_has_kernel() */
		break;
	}
	return true;
}

/* Returns the programs that the options need. */
static unsigned optionals_wanted(const struct tracker_options *o, const struct loader *l)
{
	const struct optional_row *row;
	unsigned wanted = 0;

	for (size_t i = 0; (row = optional_row(i)); i++)
		if ((row->source == NR_METRIC_SOURCES ||
		     metric_set_has_source(&o->wanted, row->source)) &&
		    optional_applies(row->when, o, l))
			wanted |= OPTIONAL_BIT(i);
	return wanted;
}

/* Returns the programs that are not refused for lack of a capability. */
static unsigned optionals_permitted(void)
{
	const bool has_net_admin =
		privilege_has(1ULL << CAP_NET_ADMIN) || privilege_has(1ULL << CAP_SYS_ADMIN);
	const struct optional_row *row;
	unsigned permitted = 0;

	for (size_t i = 0; (row = optional_row(i)); i++)
		if (row->when != WHEN_NET_ADMIN || has_net_admin)
			permitted |= OPTIONAL_BIT(i);
	return permitted;
}

/* Returns true if the kernel has what the program needs. */
static bool optional_has_kernel(const struct optional_row *row, const struct loader *l,
				const struct bpf_program *p)
{
	return loader_has_hook(l, p) &&
	       (row->when != WHEN_TIMERS_MAY_RUN || !loader_is_of_realtime(l));
}

static void optionals_choose(struct attempt *a, struct bpfmon *skel)
{
	const struct optional_row *row;
	struct bpf_program *p;
	unsigned bit;

	for (size_t i = 0; (row = optional_row(i)); i++) {
		p = bpf_object__find_program_by_name(skel->obj, row->name);
		if (!p)
			continue;
		/* A row comes after those that make it redundant, whose hooks have been checked. */
		bit = OPTIONAL_BIT(i) & a->set & ~optionals_needless(a->set);
		if (bit && !optional_has_kernel(row, &a->loader, p))
			a->set &= ~bit;
		if (bit & a->set & a->options->refusals.loading)
			refused_note(a, p, -EPERM);
		bpf_program__set_autoload(p, a->set & bit);
		bpf_program__set_autoattach(p, false);
	}
}

static int open_and_load(struct bpfmon **skel, struct attempt *a)
{
	int err;

	a->refused = 0;
	*skel = loader_skeleton(&a->loader);
	if (!*skel)
		return errno > 0 ? -errno : -EINVAL;
	optionals_choose(a, *skel);
	bpf_program__set_autoload((*skel)->progs.reassign__process, a->options->can_move);
	knobs_set(*skel, a->options, a->set);
	err = a->refused ? -EPERM : 0;
	if (!err && a->options->kept)
		err = kept_fits(a->options->kept, *skel) ? kept_use_maps(a->options->kept, *skel)
							 : -ESTALE;
	if (!err)
		err = loader_load(&a->loader, *skel, refused_note, a);
	if (err) {
		bpfmon__destroy(*skel);
		*skel = NULL;
	}
	return err;
}

/*
 * Loads all programs, then without those that the kernel refused: quicker than probing first. Sets
 * @why if a required program is refused.
 */
static int programs_load_optional(struct bpfmon **skel, const struct tracker_options *o,
				  struct optionals *x, char *why, size_t size)
{
	struct attempt a = { .options = o };
	unsigned wanted, max_tasks;
	int err;

	err = loader_open(&a.loader, o->all_types);
	a.loader.verbose = o->verbose;
	a.loader.refused_types = o->refusals.types;
	wanted = optionals_wanted(o, &a.loader);
	a.set = wanted & optionals_permitted();
	if (o->kept) {
		kept_settings(o->kept, &max_tasks, &a.set);
		a.loader.kept = o->kept;
	}
	if (!err)
		err = open_and_load(skel, &a);
	while (err && a.refused && !*a.fatal) {
		a.set &= ~a.refused;
		err = open_and_load(skel, &a);
	}
	loader_close(&a.loader);
	x->there = a.set & ~optionals_needless(a.set);
	wanted &= ~optionals_needless(a.set);
	optionals_explain(x, wanted, a.why);
	snprintf(why, size, "%s", a.fatal);
	return err;
}

int programs_load(struct bpfmon **skel, const struct tracker_options *o, struct optionals *x,
		  char *why, size_t size)
{
	const char *hint = permission_hint("/proc");
	int err;

	if (o->cgroup && !o->cgroup->cg.is_v2 &&
	    capability_cgroup_subsys(o->cgroup->controller) < 0) {
		snprintf(why, size, "the kernel has no cgroup controller '%s'",
			 o->cgroup->controller);
		return -ENOENT;
	}
	libbpf_set_print(o->verbose ? libbpf_be_verbose : libbpf_be_quiet);
	err = programs_load_optional(skel, o, x, why, size);
	if (err && !*why)
		snprintf(why, size, "cannot load the BPF programs: %s", strerror(-err));
	if (err && hint && (err == -EPERM || err == -ENOSYS))
		snprintf(why + strlen(why), size - strlen(why), "%s", hint);
	return err;
}

/* The first program without a link failed. */
static void unattached_explain(const struct bpfmon *skel, int err, char *why, size_t size)
{
	const struct bpf_object_skeleton *s = skel->skeleton;

	for (int i = 0; i < s->prog_cnt; i++) {
		const struct bpf_program *p = *s->progs[i].prog;

		if (!bpf_program__autoattach(p) || *s->progs[i].link)
			continue;
		refusal_explain(p, err, why, size);
		return;
	}
	snprintf(why, size, "cannot attach the BPF programs: %s", strerror(-err));
}

int programs_attach(const struct tracker *t, char *why, size_t size)
{
	int err = bpfmon__attach(t->skel);

	if (err)
		unattached_explain(t->skel, err, why, size);
	return err;
}

int programs_attach_iterators(struct tracker *t, char *why, size_t size)
{
	struct bpfmon *skel = t->skel;
	int err;

	t->adopt_link = bpf_program__attach_iter(skel->progs.follow__adopt, NULL);
	err = t->adopt_link ? 0 : -errno;
	if (!err)
		err = walker_open(&t->drain, skel->progs.drain__tasks, skel->maps.drain_rows,
				  &skel->bss->drain_pass);
	if (!err)
		err = walker_open(&t->retire, skel->progs.reassign__account, skel->maps.retired,
				  &skel->bss->retire_pass);
	if (err)
		refusal_explain(skel->progs.drain__tasks, err, why, size);
	return err;
}

uint64_t program_misses(const struct bpf_program *prog)
{
	struct bpf_prog_info info = { 0 };
	__u32 size = sizeof(info);

	if (bpf_obj_get_info_by_fd(bpf_program__fd(prog), &info, &size))
		return 0;
	return info.recursion_misses;
}
