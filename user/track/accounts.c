// SPDX-License-Identifier: BSD-2-Clause
#include "track/accounts.h"

#include "bpfmon.skel.h"
#include "track/iterator.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

int accounts_init(struct accounts *a)
{
	a->nr = 0;
	a->keys = calloc(MAX_ACCOUNTS, sizeof(*a->keys));
	a->totals = calloc(MAX_ACCOUNTS, sizeof(*a->totals));
	return a->keys && a->totals ? 0 : -ENOMEM;
}

void accounts_done(struct accounts *a)
{
	free(a->keys);
	free(a->totals);
	*a = (struct accounts){ 0 };
}

int accounts_read(struct accounts *a, const struct bpf_map *map)
{
	__u32 batch = 0, count;
	void *from = NULL;
	int err = 0;

	for (a->nr = 0; !err && a->nr < MAX_ACCOUNTS; from = &batch) {
		count = (__u32)(MAX_ACCOUNTS - a->nr);
		err = bpf_map_lookup_batch(bpf_map__fd(map), from, &batch, &a->keys[a->nr],
					   &a->totals[a->nr], &count, NULL);
		if (!err || err == -ENOENT) /* the last of them */
			a->nr += count;
	}
	return err == -ENOENT ? 0 : err;
}

void account_add(struct account *sum, const struct account *part)
{
	__u64 *to = (__u64 *)sum;
	const __u64 *from = (const __u64 *)part;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*to); i++)
		to[i] += from[i];
}

void account_untear(struct account *a)
{
	__u64 born = a->forks + a->roots + a->moved_in;

	a->cpu = a->user + a->system;
	if (a->exits > born)
		a->exits = born;
	if (a->left > born - a->exits)
		a->left = born - a->exits;
	if (a->moved_out > born - a->exits - a->left)
		a->moved_out = born - a->exits - a->left;
	a->processes = born - a->exits - a->left - a->moved_out;
}

/* Visits the threads of @pid only, where the kernel can (6.1), else all tasks. */
static int process_visit(struct bpf_program *prog, pid_t pid)
{
	DECLARE_LIBBPF_OPTS(bpf_iter_attach_opts, options);
	union bpf_iter_link_info info = { .task.pid = (__u32)pid };
	struct bpf_link *link;
	int err;

	options.link_info = &info;
	options.link_info_len = sizeof(info);
	link = bpf_program__attach_iter(prog, &options);
	if (!link)
		link = bpf_program__attach_iter(prog, NULL);
	if (!link)
		return -errno;
	err = iterator_run(link, 0, NULL, NULL);
	bpf_link__destroy(link);
	return err;
}

int accounts_move(struct bpfmon *skel, pid_t pid, const struct account_key *to)
{
	struct move_request *move = &skel->bss->move;
	int err;

	*move = (struct move_request){ .to = *to, .pid = (__u32)pid, .result = -ESRCH };
	err = process_visit(skel->progs.reassign__process, pid);
	return err ? err : move->result;
}

struct retiring {
	void (*record)(void *context, const struct process_record *r);
	void *context;
};

static void record_take(void *context, const void *item)
{
	const struct retiring *r = context;

	r->record(r->context, item);
}

int accounts_retire(struct bpfmon *skel, const struct account_key *from,
		    const struct account_key *to,
		    void (*record)(void *context, const struct process_record *r), void *context)
{
	struct retiring taken = { record, context };
	struct bpf_link *link;
	int err;

	skel->bss->retire = (struct retire_request){ .from = *from, .to = *to };
	link = iterator_over_map(skel->progs.reassign__account, skel->maps.processes);
	if (!link)
		return -errno;
	err = iterator_run(link, sizeof(struct process_record), record_take, &taken);
	bpf_link__destroy(link);
	if (err)
		return err;
	return skel->bss->retire.closing ? -EAGAIN : 0;
}

void accounts_forget(const struct bpf_map *map, const struct account_key *key)
{
	bpf_map__delete_elem(map, key, sizeof(*key), 0);
}
