// SPDX-License-Identifier: BSD-2-Clause
/* Moves processes to another account, and closes accounts. */
#include "measure/tracker.h"

#include "bpfmon.skel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

static int request_run(struct tracker *t, const struct move_request *request)
{
	struct move_request *move;
	struct bpf_link *link;
	int err;

	if (t->proc)
		return -EOPNOTSUPP;
	move = &t->skel->bss->move;
	*move = *request;
	move->result = -ESRCH;
	link = iterator_over_process(t->skel->progs.reassign__process, (pid_t)request->pid);
	err = link ? iterator_run(link) : -errno;
	bpf_link__destroy(link);
	return err ? err : move->result;
}

int tracker_adopt(struct tracker *t)
{
	return t->proc ? proc_source_drain(t->proc, false, NULL, NULL)
		       : iterator_run(t->adopt_link);
}

int tracker_find(struct tracker *t, pid_t pid, struct process_record *r)
{
	const struct move_request question = { .pid = (__u32)pid, .is_question = 1 };
	const struct process_record *known;
	struct drain_row row;
	int err;

	if (t->proc) {
		known = proc_source_find_pid(t->proc, pid);
		if (known)
			*r = *known;
		return known ? 0 : -ESRCH;
	}
	err = request_run(t, &question);
	if (err)
		return err;
	row.signal = t->skel->bss->move.signal;
	row.serial = t->skel->bss->move.serial;
	return tracker_process(t, &row, r, NULL) ? -ESRCH : 0;
}

int tracker_move(struct tracker *t, pid_t pid, const struct account_key *to)
{
	const struct move_request request = { .to = *to, .pid = (__u32)pid };

	if (t->proc)
		return proc_source_move(t->proc, pid, to);
	return request_run(t, &request);
}

int tracker_move_anew(struct tracker *t, pid_t pid, const struct account_key *to, uint32_t flags)
{
	const struct move_request request = { .to = *to, .pid = (__u32)pid, .flags = flags };

	return request_run(t, &request);
}

int tracker_remove_account(struct tracker *t, const struct account_key *key, struct account *total)
{
	int err;

	if (t->proc)
		err = proc_source_remove(t->proc, key, total);
	else
		err = bpf_map_lookup_and_delete_elem(bpf_map__fd(t->skel->maps.accounts), key,
						     total);
	if (err)
		return err;
	account_add(&t->removed, total);
	return 0;
}

struct taker {
	void (*record)(void *context, const struct process_record *r);
	void *context;
	int nr;
};

static void record_take(void *context, const void *item)
{
	struct taker *t = context;

	t->nr++;
	t->record(t->context, item);
}

int tracker_retire(struct tracker *t, const struct account_key *from, const struct account_key *to,
		   void (*record)(void *context, const struct process_record *r), void *context)
{
	struct taker taker = { record, context, 0 };
	int err;

	if (t->proc)
		return proc_source_retire(t->proc, record, context);
	t->skel->bss->retire = (struct retire_request){ .from = *from, .to = *to };
	err = walker_run(&t->retire, record_take, &taker);
	if (err)
		return err;
	return t->skel->bss->retire.closing ? -EAGAIN : taker.nr;
}
