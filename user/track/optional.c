// SPDX-License-Identifier: BSD-2-Clause
#include "track/optional.h"

#include "bpfmon/shared.h"
#include "bpfmon.skel.h"
#include "track/capability.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#define ENOTSUPP 524 /* the kernel's own; the C library has no text for it */

static bool has_prepare_exec(void)
{
	return capability_has_tracepoint("sched_prepare_exec");
}

static bool has_exit_mmap(void)
{
	return capability_has_tracepoint("exit_mmap");
}

static bool has_mark_victim(void)
{
	return capability_has_tracepoint("mark_victim");
}

static bool has_rss_stat(void)
{
	return capability_has_tracepoint("rss_stat");
}

static bool has_block_rq_complete(void)
{
	return capability_has_tracepoint("block_rq_complete");
}

static bool has_cgroup_attach_task(void)
{
	return capability_has_tracepoint("cgroup_attach_task");
}

static bool has_cgroup_mkdir(void)
{
	return capability_has_tracepoint("cgroup_mkdir");
}

static bool has_cgroup_rmdir(void)
{
	return capability_has_tracepoint("cgroup_rmdir");
}

static bool has_sock_send_length(void)
{
	return capability_has_tracepoint("sock_send_length");
}

static bool has_sys_exit(void)
{
	return capability_has_tracepoint("sys_exit");
}

static bool has_functions_of_sockets(void)
{
	return capability_has_function("inet_sendmsg");
}

static bool has_inet_sock_set_state(void)
{
	return capability_has_tracepoint("inet_sock_set_state");
}

static bool has_tcp_retransmit_skb(void)
{
	return capability_has_tracepoint("tcp_retransmit_skb");
}

static bool has_cgroup_skb(void)
{
	return libbpf_probe_bpf_prog_type(BPF_PROG_TYPE_CGROUP_SKB, NULL) > 0;
}

#define INET_ROW(program, title)                                                                   \
	{                                                                                          \
		program, title,                                                                    \
			"needs programs at the end of the kernel's functions of sockets, and a "   \
			"kernel before 6.3",                                                       \
			"they are not known", has_functions_of_sockets                             \
	}

static const struct optional_row rows[NR_OPTIONALS] = {
	[OPTIONAL_OFFSETS] = { "memory__offsets", "resident memory summed over CPUs",
			       "needs programs of the type syscall (5.14)",
			       "its counters may be off by a batch for each CPU",
			       capability_has_syscall_programs },
	[OPTIONAL_OLD_IMAGES] = { "marks__prepare_exec", "peaks of images ended by exec",
				  "needs the tracepoint sched_prepare_exec (6.12)",
				  "without it they are upper bounds", has_prepare_exec },
	[OPTIONAL_RELEASES] = { "marks__exit_mmap", "when memory is given back",
				"needs the tracepoint exit_mmap (6.1)",
				"without it the upper bound is coarser", has_exit_mmap },
	[OPTIONAL_OOM] = { "oom__victim", "OOM kills, with the limit",
			   "needs the tracepoint mark_victim", "without it none is reported",
			   has_mark_victim },
	[OPTIONAL_EXACT_PEAK] = { "peak__rss", "exact peak of the tree",
				  "needs the tracepoint rss_stat", "only bounds of it are known",
				  has_rss_stat },
	[OPTIONAL_BLOCK] = { "block__rq_complete", "block I/O of a cgroup",
			     "needs the tracepoint block_rq_complete and CONFIG_BLK_CGROUP",
			     "only the cgroup's own files have it", has_block_rq_complete },
	[OPTIONAL_MOVES] = { "cgroup__attach_task", "moves into and out of a cgroup",
			     "needs the tracepoint cgroup_attach_task",
			     "they are found at the next sample", has_cgroup_attach_task },
	[OPTIONAL_REMADE] = { "cgroup__mkdir", "cgroups that are made again",
			      "needs the tracepoint cgroup_mkdir",
			      "they are found at the next sample", has_cgroup_mkdir },
	[OPTIONAL_REMOVED] = { "cgroup__rmdir", "cgroups that are removed",
			       "needs the tracepoint cgroup_rmdir",
			       "they are found at the next sample", has_cgroup_rmdir },
	[OPTIONAL_SENDS] = { "sockets__send", "bytes that sockets send",
			     "needs the tracepoint sock_send_length (6.3)", "they are not known",
			     has_sock_send_length },
	[OPTIONAL_RECEIVES] = { "sockets__receive", "bytes that sockets receive",
				"needs the tracepoint sock_recv_length (6.3)", "they are not known",
				has_sock_send_length },
	[OPTIONAL_INET_SENDS] = INET_ROW("inet__sendmsg", "bytes that TCP and UDP send"),
	[OPTIONAL_INET6_SENDS] =
		INET_ROW("inet__sendmsg6", "bytes that TCP and UDP send over IPv6"),
	[OPTIONAL_INET_PAGES] =
		INET_ROW("inet__sendpage", "bytes that TCP and UDP send from files"),
	[OPTIONAL_INET_RECEIVES] = INET_ROW("inet__recvmsg", "bytes that TCP and UDP receive"),
	[OPTIONAL_INET6_RECEIVES] =
		INET_ROW("inet__recvmsg6", "bytes that TCP and UDP receive over IPv6"),
	[OPTIONAL_STATES] = { "sockets__state", "TCP connections",
			      "needs the tracepoint inet_sock_set_state", "they are not known",
			      has_inet_sock_set_state },
	[OPTIONAL_RETRANSMITS] = { "sockets__retransmit", "what TCP sends again",
				   "needs the tracepoint tcp_retransmit_skb", "it is not known",
				   has_tcp_retransmit_skb },
	[OPTIONAL_LIVE_SOCKETS] = { "sockets__live", "live TCP sockets by state",
				    "needs the tracepoint inet_sock_set_state",
				    "they are not known", has_inet_sock_set_state },
	[OPTIONAL_KINDS] = { "kinds__exit", "what kinds of files calls read and write",
			     "needs the tracepoint sys_exit", "it is not known", has_sys_exit },
	[OPTIONAL_WIRE_RECEIVES] = { "wire__receive", "packets to a cgroup",
				     "needs programs of the type cgroup_skb", "they are not known",
				     has_cgroup_skb },
	[OPTIONAL_WIRE_SENDS] = { "wire__send", "packets from a cgroup",
				  "needs programs of the type cgroup_skb", "they are not known",
				  has_cgroup_skb },
};

const struct optional_row *optional_row(size_t i)
{
	return i < NR_OPTIONALS ? &rows[i] : NULL;
}

unsigned optional_find(const char *name, size_t length)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (strlen(rows[i].name) == length && !strncmp(rows[i].name, name, length))
			return OPTIONAL_BIT(i);
	return 0;
}

static void optional_explain(struct optionals *x, size_t i, const char *why)
{
	snprintf(x->missing[i], sizeof(x->missing[i]), "%s; %s", why, rows[i].without);
}

void optionals_explain(struct optionals *x, unsigned wanted, unsigned asked)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		if (!(wanted & ~x->there & OPTIONAL_BIT(i)))
			continue;
		if (asked & OPTIONAL_BIT(i)) /* the kernel has what the row needs */
			optional_explain(x, i, "the kernel refuses the program");
		else
			optional_explain(x, i, rows[i].needs);
	}
}

/* Runs once, instead of being attached. */
static int offsets_find(const struct bpfmon *skel)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, run);
	int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.memory__offsets), &run);

	return err || skel->bss->cpu_offset_known ? err : -ENOTSUP;
}

static int optional_attach(struct optionals *x, size_t i, struct bpfmon *skel, int cgroup_fd)
{
	if (i == OPTIONAL_OFFSETS)
		return offsets_find(skel);
	if (OPTIONAL_OF_WIRE & OPTIONAL_BIT(i)) {
		x->links[i] = bpf_program__attach_cgroup(
			bpf_object__find_program_by_name(skel->obj, rows[i].name), cgroup_fd);
		return x->links[i] ? 0 : -errno;
	}
	if (i == OPTIONAL_LIVE_SOCKETS)
		return walker_open(&x->sockets, skel->progs.sockets__live, skel->maps.socket_rows,
				   &skel->bss->pass);
	x->links[i] =
		bpf_program__attach(bpf_object__find_program_by_name(skel->obj, rows[i].name));
	return x->links[i] ? 0 : -errno;
}

/* Of these all are needed: with a part of them the sum would be too low. */
static void optionals_drop_part(struct optionals *x, unsigned all)
{
	if ((x->there & all) == all)
		return;
	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		if (!(x->there & all & OPTIONAL_BIT(i)))
			continue;
		bpf_link__destroy(x->links[i]);
		x->links[i] = NULL;
		optional_explain(x, i, "the kernel lacks another one of its functions");
	}
	x->there &= ~all;
}

void optionals_attach(struct optionals *x, struct bpfmon *skel, unsigned refused,
		      int cgroup_fd)
{
	char why[100];
	int err;

	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		if (!(x->there & OPTIONAL_BIT(i)))
			continue;
		err = refused & OPTIONAL_BIT(i) ? -EPERM : optional_attach(x, i, skel, cgroup_fd);
		if (!err)
			continue;
		x->there &= ~OPTIONAL_BIT(i);
		snprintf(why, sizeof(why), "the kernel does not attach the program: %s",
			 strerror(err == -ENOTSUPP ? EOPNOTSUPP : -err));
		optional_explain(x, i, why);
	}
	optionals_drop_part(x, OPTIONAL_OF_INET_SENDS);
	optionals_drop_part(x, OPTIONAL_OF_INET_RECEIVES);
	skel->bss->knows_old_image = x->there & OPTIONAL_BIT(OPTIONAL_OLD_IMAGES);
	skel->bss->knows_release = x->there & OPTIONAL_BIT(OPTIONAL_RELEASES);
}

void optionals_detach(struct optionals *x)
{
	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		bpf_link__destroy(x->links[i]);
		x->links[i] = NULL;
	}
	walker_close(&x->sockets);
}
