// SPDX-License-Identifier: BSD-2-Clause
#include "measure/program_type.h"

#include "base/cleanup.h"
#include "measure/kernel_btf.h"

#include <bpf/btf.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <string.h>

#define LICENSE "Dual BSD/GPL"

/* clang-format off */
static const struct program_type rows[NR_PROGRAM_TYPES] = {
	{ "tp_btf/", "tp_btf", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, 0,
	  "btf_trace_", BTF_KIND_TYPEDEF, "btf_trace_task_newtask", NULL },
	{ "iter/", "iter/task", BPF_PROG_TYPE_TRACING, BPF_TRACE_ITER, 0,
	  "bpf_iter_", BTF_KIND_FUNC, "bpf_iter_task", NULL },
	{ "fexit/", "fexit", BPF_PROG_TYPE_TRACING, BPF_TRACE_FEXIT, 0,
	  "", BTF_KIND_FUNC, "inet_sendmsg", "socket traffic is not available before Linux 6.3" },
	{ "cgroup_skb/ingress", "cgroup_skb", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_INGRESS, 0,
	  NULL, 0, NULL, "packets of a cgroup are not counted" },
	{ "cgroup_skb/egress", "cgroup_skb", BPF_PROG_TYPE_CGROUP_SKB, BPF_CGROUP_INET_EGRESS, 0,
	  NULL, 0, NULL, "packets of a cgroup are not counted" },
	{ "cgroup/connect4", "cgroup_sock_addr", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET4_CONNECT, 0,
	  NULL, 0, NULL, "connections that fail at once are not counted" },
	{ "cgroup/connect6", "cgroup_sock_addr", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_INET6_CONNECT, 0,
	  NULL, 0, NULL, "connections that fail at once are not counted" },
	{ "cgroup/sendmsg4", "cgroup_sock_addr", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP4_SENDMSG, 0,
	  NULL, 0, NULL, "--net-peers counts datagrams of connected sockets for the peer of the socket" },
	{ "cgroup/sendmsg6", "cgroup_sock_addr", BPF_PROG_TYPE_CGROUP_SOCK_ADDR, BPF_CGROUP_UDP6_SENDMSG, 0,
	  NULL, 0, NULL, "--net-peers counts datagrams of connected sockets for the peer of the socket" },
	{ "syscall", "syscall", BPF_PROG_TYPE_SYSCALL, 0, BPF_F_SLEEPABLE,
	  NULL, 0, NULL, "resident memory may be inaccurate by one batch per CPU" },
};
/* clang-format on */

const struct program_type *program_type_row(size_t i)
{
	return i < NR_PROGRAM_TYPES ? &rows[i] : NULL;
}

const struct program_type *program_type_find(const char *section)
{
	section += *section == '?';
	for (size_t i = 0; i < NR_PROGRAM_TYPES; i++)
		if (!strncmp(section, rows[i].section, strlen(rows[i].section)))
			return &rows[i];
	return NULL;
}

unsigned program_type_bits(const char *name)
{
	unsigned bits = 0;

	for (size_t i = 0; i < NR_PROGRAM_TYPES; i++)
		if (!strcmp(rows[i].name, name))
			bits |= 1U << i;
	return bits;
}

int program_type_hook(const char *section, struct kernel_type *hook)
{
	const struct program_type *t = program_type_find(section);
	int n;

	*hook = (struct kernel_type){ 0 };
	if (!t || !t->hook)
		return -ENOENT;
	hook->kind = t->kind;
	n = snprintf(hook->name, sizeof(hook->name), "%s%s", t->hook,
		     section + (*section == '?') + strlen(t->section));
	return (size_t)n < sizeof(hook->name) ? 0 : -ENAMETOOLONG;
}

void program_type_explain(const struct program_type *type, int err, char *why, size_t size)
{
	snprintf(why, size, "the kernel refuses programs of type %s: %s%s", type->name,
		 strerror(-err),
		 err == -EPERM || err == -EACCES
			 ? " (hardened kernel, container, or CAP_BPF missing)"
			 : "");
}

/* Attaches to an example hook. Succeeds if this kernel has no such hook. */
static int type_attach(const struct program_type *t, int program)
{
	__cleanup(closep) int link = -1;

	if (!t->hook)
		return 0;
	link = t->attach == BPF_TRACE_ITER ? bpf_link_create(program, 0, t->attach, NULL)
					   : bpf_raw_tracepoint_open(NULL, program);
	if (link >= 0)
		return 0;
	return errno == ENOTSUPP ? -EOPNOTSUPP : -errno;
}

static int type_probe(const struct program_type *t, uint32_t hook)
{
	static const struct bpf_insn nothing[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	DECLARE_LIBBPF_OPTS(bpf_prog_load_opts, options);
	__cleanup(closep) int program = -1;

	options.expected_attach_type = t->attach;
	options.prog_flags = t->flags;
	options.attach_btf_id = hook;
	program = bpf_prog_load(t->type, "probe", LICENSE, nothing,
				sizeof(nothing) / sizeof(*nothing), &options);
	return program < 0 ? -errno : type_attach(t, program);
}

/* fexit programs are needed only without this tracepoint. */
static const char replacement[] = "btf_trace_sock_send_length";

void program_types_probe(unsigned refused,
			 void (*fn)(void *context, const struct program_type *type,
				    bool is_permitted, bool is_needed, const char *why),
			 void *context)
{
	struct kernel_type hooks[NR_PROGRAM_TYPES + 1] = { 0 };
	struct kernel_btf kernel;
	char why[256];

	for (size_t i = 0; i < NR_PROGRAM_TYPES; i++) {
		snprintf(hooks[i].name, sizeof(hooks[i].name), "%s",
			 rows[i].example ? rows[i].example : "");
		hooks[i].kind = rows[i].kind;
	}
	hooks[NR_PROGRAM_TYPES].kind = BTF_KIND_TYPEDEF;
	memcpy(hooks[NR_PROGRAM_TYPES].name, replacement, sizeof(replacement));
	if (!kernel_btf_open(&kernel)) {
		kernel_btf_find(&kernel, hooks, NR_PROGRAM_TYPES + 1);
		kernel_btf_close(&kernel);
	}
	for (size_t i = 0; i < NR_PROGRAM_TYPES; i++) {
		const struct program_type *t = &rows[i];
		int err;

		if (i && !strcmp(t->name, rows[i - 1].name))
			continue;
		err = refused & 1U << i ? -EPERM : type_probe(t, hooks[i].id);
		program_type_explain(t, err, why, sizeof(why));
		fn(context, t, !err, t->attach != BPF_TRACE_FEXIT || !hooks[NR_PROGRAM_TYPES].id,
		   why);
	}
}
