// SPDX-License-Identifier: BSD-2-Clause
#include "measure/loader.h"

#include "base/memory.h"
#include "base/stack.h"
#include "bpfmon/shared.h"
#include "bpfmon.skel.h"
#include "measure/kept.h"
#include "measure/kernel_btf.h"
#include "measure/program_type.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LICENSE "Dual BSD/GPL" /* as in bpf/follow.bpf.c */
#define THREADS_MOST 8
#define LOG_BYTES (1 << 20)

/*
 * A relocated program taken from libbpf, which would load programs one by one and read the kernel's
 * full BTF to find the ids of hooks. libbpf loads an empty program in place of each, whose
 * descriptor is later replaced by the real one.
 */
struct relocated {
	struct bpf_program *program; /* not owned */
	enum bpf_prog_type type;
	struct bpf_prog_load_opts options; /* owned, with all that it refers to */
	struct bpf_insn *insns;            /* owned */
	size_t nr_insns;
};

struct relocated_set {
	struct relocated programs[RELOCATED_MOST];
	size_t nr;
};

static struct relocated_set *collected; /* libbpf passes only what was registered: no context */

static int bytes_own(const void **bytes, size_t n)
{
	void *copy = memory_malloc(n + 1);

	if (!copy)
		return -ENOMEM;
	if (n)
		memcpy(copy, *bytes, n);
	*bytes = copy;
	return 0;
}

static void relocated_free(struct relocated *r)
{
	free(r->insns);
	free((void *)r->options.func_info);
	free((void *)r->options.line_info);
}

/* Replaces all that @r->options and @r->insns refer to with owned copies. */
static int relocated_own(struct relocated *r)
{
	struct bpf_prog_load_opts *o = &r->options;
	const void *insns = r->insns, *functions = o->func_info, *lines = o->line_info;
	int err;

	r->insns = NULL;
	o->func_info = o->line_info = NULL;
	err = bytes_own(&insns, r->nr_insns * sizeof(*r->insns));
	if (err)
		return err;
	r->insns = (struct bpf_insn *)insns;
	err = bytes_own(&functions, (size_t)o->func_info_cnt * o->func_info_rec_size);
	if (err)
		return err;
	o->func_info = functions;
	err = bytes_own(&lines, (size_t)o->line_info_cnt * o->line_info_rec_size);
	if (!err)
		o->line_info = lines;
	return err;
}

/* Called by libbpf before it loads @p: keeps the program and substitutes an empty one. */
static int program_substitute(struct bpf_program *p, struct bpf_prog_load_opts *options,
			      long cookie)
{
	static struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct program_type *type = program_type_row((size_t)cookie);
	struct relocated r = { .program = p,
			       .type = type->type,
			       .options = *options,
			       .insns = (struct bpf_insn *)bpf_program__insns(p),
			       .nr_insns = bpf_program__insn_cnt(p) };
	int err;

	if (!collected || collected->nr == RELOCATED_MOST)
		return -E2BIG;
	r.options.prog_flags |= type->flags;
	r.options.fd_array = NULL; /* only needed to call kernel functions */
	err = relocated_own(&r);
	if (err) {
		relocated_free(&r);
		return err;
	}
	collected->programs[collected->nr++] = r;
	options->expected_attach_type = 0;
	options->prog_btf_fd = 0;
	options->func_info = options->line_info = NULL;
	options->func_info_cnt = options->line_info_cnt = 0;
	return bpf_program__set_insns(p, empty, sizeof(empty) / sizeof(*empty));
}

static int program_attach(const struct bpf_program *p, long cookie, struct bpf_link **link)
{
	(void)cookie;
	*link = bpf_program__attach_trace(p);
	return *link ? 0 : -errno;
}

static int relocated_register(void)
{
	static size_t nr;
	const struct program_type *t;

	for (; (t = program_type_row(nr)); nr++) {
		DECLARE_LIBBPF_OPTS(libbpf_prog_handler_opts, options);
		int id;

		options.cookie = (long)nr;
		options.prog_prepare_load_fn = program_substitute;
		/* iterators have parameters and are attached one by one */
		options.prog_attach_fn = t->attach != BPF_TRACE_ITER ? program_attach : NULL;
		/* this type has no hook for libbpf to look up */
		id = libbpf_register_prog_handler(t->section, BPF_PROG_TYPE_SOCKET_FILTER,
						  t->attach, &options);
		if (id < 0)
			return id;
	}
	return 0;
}

static void relocated_collect(struct relocated_set *set)
{
	collected = set;
}

static void relocated_done(struct relocated_set *set)
{
	for (size_t i = 0; i < set->nr; i++)
		relocated_free(&set->programs[i]);
	set->nr = 0;
}

static struct bpfmon *skeleton_open(int types_fd)
{
	DECLARE_LIBBPF_OPTS(bpf_object_open_opts, options);
	char path[64];

	if (types_fd < 0)
		return bpfmon__open();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", types_fd);
	options.btf_custom_path = path;
	return access(path, R_OK) ? NULL : bpfmon__open_opts(&options);
}

static void hooks_name(struct loader *l)
{
	struct bpf_program *p;

	l->hooks[TYPE_SUMMED_RSS] =
		(struct kernel_type){ .name = "mm_rss_stat", .kind = BTF_KIND_STRUCT };
	l->hooks[TYPE_RT_LOCK] =
		(struct kernel_type){ .name = "rt_spin_lock", .kind = BTF_KIND_FUNC };
	l->nr_hooks = NR_SOME_TYPES;
	bpf_object__for_each_program(p, l->first->obj)
		if (l->nr_hooks < NR_SOME_TYPES + RELOCATED_MOST &&
		    !program_type_hook(bpf_program__section_name(p), &l->hooks[l->nr_hooks]))
			l->nr_hooks++;
}

/* Uses libbpf's BTF of the whole kernel, which takes longer. */
static int hooks_find_slowly(struct loader *l)
{
	struct btf *all = btf__load_vmlinux_btf();
	int err = (int)libbpf_get_error(all);
	__s32 id;

	for (size_t i = 0; !err && i < l->nr_hooks; i++) {
		id = btf__find_by_name_kind(all, l->hooks[i].name, l->hooks[i].kind);
		l->hooks[i].id = id > 0 ? (uint32_t)id : 0;
	}
	if (!err)
		btf__free(all);
	return err;
}

/*
 * The small BTF is made once for all attempts. Relocations are the same with it, and found in a
 * tenth of the time.
 */
static int types_copy_open(struct loader *l)
{
	struct kernel_btf kernel;
	int err;

	l->types_fd = memfd_create("bpfmon-types", MFD_CLOEXEC);
	l->first = l->types_fd < 0 ? NULL : skeleton_open(l->types_fd);
	if (!l->first)
		return -errno;
	hooks_name(l);
	err = kernel_btf_open(&kernel);
	if (err)
		return err;
	kernel_btf_find(&kernel, l->hooks, l->nr_hooks);
	err = small_btf_write(l->types_fd, &kernel, bpf_object__btf(l->first->obj));
	kernel_btf_close(&kernel);
	return err;
}

int loader_open(struct loader *l, bool all_types)
{
	int err;

	*l = (struct loader){ .types_fd = -1 };
	err = relocated_register();
	if (err)
		return err;
	if (!all_types && !types_copy_open(l))
		return 0;
	loader_close(l);
	l->first = skeleton_open(-1);
	if (!l->first)
		return errno > 0 ? -errno : -EINVAL;
	hooks_name(l);
	return hooks_find_slowly(l);
}

void loader_close(struct loader *l)
{
	bpfmon__destroy(l->first);
	l->first = NULL;
	if (l->types_fd >= 0)
		close(l->types_fd);
	l->types_fd = -1;
}

struct bpfmon *loader_skeleton(struct loader *l)
{
	struct bpfmon *skel = l->first;

	l->first = NULL;
	return skel ? skel : skeleton_open(l->types_fd);
}

/* Returns 0 if the kernel lacks it. */
static uint32_t hook_id(const struct loader *l, const struct kernel_type *wanted)
{
	for (size_t i = 0; i < l->nr_hooks; i++)
		if (l->hooks[i].kind == wanted->kind && !strcmp(l->hooks[i].name, wanted->name))
			return l->hooks[i].id;
	return 0;
}

bool loader_has_hook(const struct loader *l, const struct bpf_program *p)
{
	struct kernel_type hook;

	return program_type_hook(bpf_program__section_name(p), &hook) || hook_id(l, &hook);
}

bool loader_has_percpu_rss(const struct loader *l)
{
	return !l->hooks[TYPE_SUMMED_RSS].id;
}

bool loader_is_of_realtime(const struct loader *l)
{
	return l->hooks[TYPE_RT_LOCK].id;
}

struct batch {
	struct relocated_set relocated;
	int errs[RELOCATED_MOST];
	const struct loader *loader;
	atomic_size_t next;
};

static int relocated_load(const struct relocated *r, const struct bpf_prog_load_opts *options)
{
	int fd = bpf_prog_load(r->type, bpf_program__name(r->program), LICENSE, r->insns,
			       r->nr_insns, options);

	return fd < 0 ? -errno : fd;
}

/* Loads the program again to get the verifier's log. */
static void refusal_print(const struct relocated *r, int err)
{
	struct bpf_prog_load_opts options = r->options;
	char *log = memory_calloc(1, LOG_BYTES);
	int fd;

	if (!log)
		return;
	options.log_level = 1;
	options.log_size = LOG_BYTES;
	options.log_buf = log;
	fd = relocated_load(r, &options);
	fprintf(stderr, "the kernel refused program '%s': %s\n%s", bpf_program__name(r->program),
		strerror(-err), log);
	if (fd >= 0)
		close(fd);
	free(log);
}

static int hooked_load(const struct loader *l, struct relocated *r)
{
	const char *section = bpf_program__section_name(r->program);
	struct bpf_prog_load_opts options;
	struct kernel_type hook;
	int fd;

	if (l->refused_types & program_type_bits(program_type_find(section)->name))
		return -EPERM; /* simulated for tests */
	if (!program_type_hook(section, &hook)) {
		r->options.attach_btf_id = hook_id(l, &hook);
		if (!r->options.attach_btf_id)
			return -ENOENT;
	}
	options = r->options;
	options.line_info = NULL; /* only for the log */
	options.line_info_cnt = options.line_info_rec_size = 0;
	fd = relocated_load(r, &options);
	if (fd < 0 && l->verbose)
		refusal_print(r, fd);
	return fd;
}

/*
 * Replaces libbpf's descriptor of the empty program at once: the kernel frees the empty one later,
 * under a lock that attaching needs.
 */
static int program_replace(const struct loader *l, struct relocated *r)
{
	int kept = l->kept ? kept_program(l->kept, bpf_program__name(r->program)) : -1;
	int fd = kept >= 0 ? kept : hooked_load(l, r), err = 0;

	if (fd < 0)
		return fd;
	if (dup3(fd, bpf_program__fd(r->program), O_CLOEXEC) < 0)
		err = -errno;
	if (kept < 0)
		close(fd);
	return err;
}

/*
 * Programs are loaded by a thread on each CPU: the verifier takes no lock for a process with
 * CAP_BPF. Line info is left out, which saves a tenth of its time: `bpftool prog dump` has function
 * names, but no source lines. With --verbose, refused programs are loaded again with line info for
 * the log.
 */

static void *batch_load(void *context)
{
	struct batch *b = context;
	size_t i;

	while ((i = atomic_fetch_add(&b->next, 1)) < b->relocated.nr)
		b->errs[i] = program_replace(b->loader, &b->relocated.programs[i]);
	return NULL;
}

/* Loads on all CPUs in the order of the skeleton, whose last programs are small. */
static void batch_run(struct batch *b)
{
	pthread_t threads[THREADS_MOST];
	size_t nr = 0, most = 0;
	cpu_set_t cpus;

	if (!sched_getaffinity(0, sizeof(cpus), &cpus))
		most = (size_t)CPU_COUNT(&cpus) - 1;
	/* without threads, this one loads them all */
	while (nr < most && nr < THREADS_MOST && nr + 1 < b->relocated.nr &&
	       !stack_start_thread(&threads[nr], batch_load, b))
		nr++;
	batch_load(b);
	while (nr)
		pthread_join(threads[--nr], NULL);
}

/* Calls @refused for each failure. Returns the last error. */
static int batch_report(const struct batch *b,
			void (*refused)(void *, const struct bpf_program *, int), void *context)
{
	int err = 0;

	for (size_t i = 0; i < b->relocated.nr; i++) {
		if (!b->errs[i])
			continue;
		err = b->errs[i];
		refused(context, b->relocated.programs[i].program, err);
	}
	return err;
}

int loader_load(const struct loader *l, struct bpfmon *skel,
		void (*refused)(void *context, const struct bpf_program *p, int err), void *context)
{
	struct batch *b = memory_calloc(1, sizeof(*b));
	int err;

	if (!b)
		return -ENOMEM;
	b->loader = l;
	relocated_collect(&b->relocated);
	err = bpfmon__load(skel);
	relocated_collect(NULL);
	if (!err) {
		batch_run(b);
		err = batch_report(b, refused, context);
	}
	relocated_done(&b->relocated);
	free(b);
	return err;
}
