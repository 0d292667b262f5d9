// SPDX-License-Identifier: BSD-2-Clause
#include "measure/optional.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "bpfmon/shared.h"
#include "bpfmon.skel.h"
#include "measure/program_type.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#define INET_ROW(program, title)                                                                   \
	{                                                                                          \
		program, title,                                                                    \
			"needs programs at the end of the kernel's functions of sockets, and a "   \
			"kernel before 6.3",                                                       \
			"they are not known", NULL                                                 \
	}

#define CONNECTS_ROW(program, title)                                                               \
	{                                                                                          \
		program, title, "needs CAP_NET_ADMIN, and cgroups of version 2",                   \
			"net_failed_connects lacks them", NULL                                     \
	}

static const struct optional_row rows[NR_OPTIONALS] = {
	[OPTIONAL_OFFSETS] = { "memory__offsets", "resident memory summed over CPUs",
			       "needs programs of the type syscall (5.14)",
			       "its counters may be off by a batch for each CPU", NULL },
	[OPTIONAL_OLD_IMAGES] = { "marks__prepare_exec", "peaks of images ended by exec",
				  "needs the tracepoint sched_prepare_exec (6.12)",
				  "without it they are upper bounds", NULL },
	[OPTIONAL_RELEASES] = { "marks__exit_mmap", "when memory is given back",
				"needs the tracepoint exit_mmap (6.1)",
				"without it the upper bound is coarser", NULL },
	[OPTIONAL_OOM] = { "oom__victim", "OOM kills, with the limit",
			   "needs the tracepoint mark_victim", "without it none is reported",
			   NULL },
	[OPTIONAL_EXACT_PEAK] = { "peak__rss", "exact peak of the tree",
				  "needs the tracepoint rss_stat", "only bounds of it are known",
				  NULL },
	[OPTIONAL_BLOCK] = { "block__rq_complete", "block I/O of a cgroup",
			     "needs the tracepoint block_rq_complete and CONFIG_BLK_CGROUP",
			     "only the cgroup's own files have it", NULL },
	[OPTIONAL_BLOCK_BIOS] = { "block__bio_complete", "block I/O of devices without requests",
				  "needs the tracepoint block_bio_complete",
				  "only the cgroup's own files have it", NULL },
	[OPTIONAL_MOVES] = { "cgroup__attach_task", "moves into and out of a cgroup",
			     "needs the tracepoint cgroup_attach_task",
			     "they are found at the next sample", "cgroup_attach_task" },
	[OPTIONAL_REMADE] = { "cgroup__mkdir", "cgroups that are made again",
			      "needs the tracepoint cgroup_mkdir",
			      "they are found at the next sample", "cgroup_mkdir" },
	[OPTIONAL_REMOVED] = { "cgroup__rmdir", "cgroups that are removed",
			       "needs the tracepoint cgroup_rmdir",
			       "they are found at the next sample", "cgroup_rmdir" },
	[OPTIONAL_SENDS] = { "sockets__send", "bytes that sockets send",
			     "needs the tracepoint sock_send_length (6.3)", "they are not known",
			     NULL },
	[OPTIONAL_RECEIVES] = { "sockets__receive", "bytes that sockets receive",
				"needs the tracepoint sock_recv_length (6.3)", "they are not known",
				NULL },
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
			      NULL },
	[OPTIONAL_CONNECTS] = CONNECTS_ROW("connects__inet", "TCP connections that fail at once"),
	[OPTIONAL_CONNECTS6] =
		CONNECTS_ROW("connects__inet6", "IPv6 connections that fail at once"),
	[OPTIONAL_RETRANSMITS] = { "sockets__retransmit", "what TCP sends again",
				   "needs the tracepoint tcp_retransmit_skb", "it is not known",
				   NULL },
	[OPTIONAL_SEED_SOCKETS] = { "sockets__seed", "TCP sockets from before an attach",
				    "needs iterators over files of tasks (5.8)",
				    "connections and live sockets are not known there", NULL },
	[OPTIONAL_SENDMSG4] = { "sockets__sendmsg4", "datagrams sent elsewhere",
				"needs programs of the type cgroup_sock_addr and a mounted "
				"cgroup2",
				"they count for the socket's peer", NULL },
	[OPTIONAL_SENDMSG6] = { "sockets__sendmsg6", "datagrams sent elsewhere over IPv6",
				"needs programs of the type cgroup_sock_addr and a mounted "
				"cgroup2",
				"they count for the socket's peer", NULL },
	[OPTIONAL_LIVE_SOCKETS] = { "sockets__live", "live TCP sockets by state",
				    "needs the tracepoint inet_sock_set_state",
				    "they are not known", NULL },
	[OPTIONAL_KINDS] = { "kinds__exit", "what kinds of files calls read and write",
			     "needs the tracepoint sys_exit", "it is not known", NULL },
	[OPTIONAL_WIRE_RECEIVES] = { "wire__receive", "packets to a cgroup",
				     "needs programs of the type cgroup_skb", "they are not known",
				     NULL },
	[OPTIONAL_ENDS] = { "ends__call", "the end of runs that fork fast",
			    "needs the tracepoint sys_enter",
			    "what forks faster than it is found may outlive a limit", NULL },
	[OPTIONAL_WIRE_SENDS] = { "wire__send", "packets from a cgroup",
				  "needs programs of the type cgroup_skb", "they are not known",
				  NULL },
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

void optionals_explain(struct optionals *x, unsigned wanted,
		       const char why[NR_OPTIONALS][REFUSAL_BYTES])
{
	for (size_t i = 0; i < NR_OPTIONALS; i++)
		if (wanted & ~x->there & OPTIONAL_BIT(i))
			optional_explain(x, i, *why[i] ? why[i] : rows[i].needs);
}

void optionals_refuse(struct optionals *x, bool exact_peak)
{
	static const char why[] = "needs BPF, and the source is /proc";

	optional_explain(x, OPTIONAL_OOM, why);
	if (exact_peak)
		optional_explain(x, OPTIONAL_EXACT_PEAK, why);
}

/* Runs once, instead of being attached. */
static int offsets_find(const struct bpfmon *skel)
{
	DECLARE_LIBBPF_OPTS(bpf_test_run_opts, run);
	int err = bpf_prog_test_run_opts(bpf_program__fd(skel->progs.memory__offsets), &run);

	return err || skel->bss->cpu_offset_known ? err : -ENOTSUP;
}

static int cgroup_attach(struct bpf_link **link, const struct bpf_program *p, int cgroup_fd)
{
	if (cgroup_fd < 0)
		return -ENOENT;
	*link = bpf_program__attach_cgroup(p, cgroup_fd);
	return *link ? 0 : -errno;
}

static int optional_attach(struct optionals *x, size_t i, struct bpfmon *skel, int wire_fd,
			   int root_fd)
{
	struct bpf_program *p = bpf_object__find_program_by_name(skel->obj, rows[i].name);

	if (i == OPTIONAL_OFFSETS)
		return offsets_find(skel);
	if (i == OPTIONAL_ENDS)
		return 0;
	if (OPTIONAL_OF_WIRE & OPTIONAL_BIT(i))
		return cgroup_attach(&x->links[i], p, wire_fd);
	if (OPTIONAL_OF_ROOT & OPTIONAL_BIT(i))
		return cgroup_attach(&x->links[i], p, root_fd);
	if (i == OPTIONAL_LIVE_SOCKETS)
		return walker_open(&x->sockets, skel->progs.sockets__live, skel->maps.socket_rows,
				   &skel->bss->socket_pass);
	x->links[i] = i == OPTIONAL_SEED_SOCKETS ? bpf_program__attach_iter(p, NULL)
						 : bpf_program__attach(p);
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

void optionals_attach(struct optionals *x, struct bpfmon *skel, unsigned refused, int wire_fd,
		      int root_fd)
{
	char why[100];
	int err;

	for (size_t i = 0; i < NR_OPTIONALS; i++) {
		if (!(x->there & OPTIONAL_BIT(i)))
			continue;
		err = refused & OPTIONAL_BIT(i) ? -EPERM
						: optional_attach(x, i, skel, wire_fd, root_fd);
		if (!err)
			continue;
		x->there &= ~OPTIONAL_BIT(i);
		snprintf(why, sizeof(why), "the kernel does not attach the program: %s",
			 OPTIONAL_OF_ROOT & OPTIONAL_BIT(i) && root_fd < 0
				 ? "no cgroups of version 2 are mounted"
				 : strerror(err == -ENOTSUPP ? EOPNOTSUPP : -err));
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
