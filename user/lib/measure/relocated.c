// SPDX-License-Identifier: BSD-2-Clause
#include "measure/relocated.h"

#include "base/memory.h"
#include "measure/program_type.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdlib.h>
#include <string.h>

static struct relocated_set *collected; /* libbpf passes on only what is known at the start */

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
	const struct program_type *t;

	for (; (t = program_type_row(nr)); nr++) {
		DECLARE_LIBBPF_OPTS(libbpf_prog_handler_opts, options);
		int id;

		options.cookie = (long)nr;
		options.prog_prepare_load_fn = program_keep_code;
		/* iterators have parameters, and are attached one by one */
		options.prog_attach_fn = t->attach != BPF_TRACE_ITER ? program_attach : NULL;
		/* a type that is attached to nothing: libbpf looks for no hook */
		id = libbpf_register_prog_handler(t->section, BPF_PROG_TYPE_SOCKET_FILTER,
						  t->attach, &options);
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
