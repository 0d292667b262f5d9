// SPDX-License-Identifier: BSD-2-Clause
#include "track/relocated.h"

#include "track/kernel_btf.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct section {
	const char *name; /* as libbpf takes it: with a slash a prefix */
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	unsigned flags;
	const char *hook; /* begins the name of the kernel's type that is attached to */
	uint16_t kind;    /* of that type */
};

static const struct section sections[] = {
	{ "tp_btf/", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0, "btf_trace_", BTF_KIND_TYPEDEF },
	{ "fexit/", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, 0, "", BTF_KIND_FUNC },
	{ "iter/", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, 0, "bpf_iter_", BTF_KIND_FUNC },
	{ "cgroup_skb/ingress", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 0, NULL, 0 },
	{ "cgroup_skb/egress", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 0, NULL, 0 },
	{ "syscall", BPF_PROG_TYPE_SYSCALL, 0, BPF_F_SLEEPABLE, NULL, 0 },
};

#define NR_SECTIONS (sizeof(sections) / sizeof(*sections))

static struct relocated_set *collected; /* libbpf passes on only what is known at the start */

static int bytes_own(const void **bytes, size_t n)
{
	void *copy = malloc(n + 1);

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

/* Owns a copy of all that @r->options and @r->insns refer to. */
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

/* By libbpf, before it loads @p: gives it an empty program for it. */
static int program_keep_code(struct bpf_program *p, struct bpf_prog_load_opts *options, long cookie)
{
	static struct bpf_insn empty[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	const struct section *s = &sections[cookie];
	struct relocated r = { .program = p,
			       .type = s->type,
			       .options = *options,
			       .insns = (struct bpf_insn *)bpf_program__insns(p),
			       .nr_insns = bpf_program__insn_cnt(p) };
	int err;

	if (!collected || collected->nr == RELOCATED_MOST)
		return -E2BIG;
	r.options.prog_flags |= s->flags;
	r.options.fd_array = NULL; /* of no use for programs that call no function of the kernel */
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

int relocated_register(void)
{
	static size_t nr;

	for (; nr < NR_SECTIONS; nr++) {
		const struct section *s = &sections[nr];
		DECLARE_LIBBPF_OPTS(libbpf_prog_handler_opts, options);
		int id;

		options.cookie = (long)nr;
		options.prog_prepare_load_fn = program_keep_code;
		/* iterators have parameters, and are attached one by one */
		options.prog_attach_fn = s->attach != BPF_TRACE_ITER ? program_attach : NULL;
		/* a type that is attached to nothing: libbpf looks for no hook */
		id = libbpf_register_prog_handler(s->name, BPF_PROG_TYPE_SOCKET_FILTER, s->attach,
						  &options);
		if (id < 0)
			return id;
	}
	return 0;
}

void relocated_collect(struct relocated_set *set)
{
	collected = set;
}

void relocated_done(struct relocated_set *set)
{
	for (size_t i = 0; i < set->nr; i++)
		relocated_free(&set->programs[i]);
	set->nr = 0;
}

int relocated_hook(const struct bpf_program *p, struct kernel_type *hook)
{
	const char *section = bpf_program__section_name(p);

	section += *section == '?';
	*hook = (struct kernel_type){ 0 };
	for (size_t i = 0; i < NR_SECTIONS; i++) {
		const struct section *s = &sections[i];
		size_t length = strlen(s->name);
		int n;

		if (!s->hook || strncmp(section, s->name, length) != 0)
			continue;
		hook->kind = s->kind;
		n = snprintf(hook->name, sizeof(hook->name), "%s%s", s->hook, section + length);
		return (size_t)n < sizeof(hook->name) ? 0 : -ENAMETOOLONG;
	}
	return -ENOENT;
}
