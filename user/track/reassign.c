// SPDX-License-Identifier: BSD-2-Clause
/* Moves processes to another account, and closes accounts. */
#include "track/tracker.h"

#include "bpfmon.skel.h"
#include "track/iterator.h"

#include <errno.h>

int tracker_move(struct tracker *t, pid_t pid, const struct account_key *to)
{
	struct move_request *move = &t->skel->bss->move;
	int err;

	*move = (struct move_request){ .to = *to, .pid = (__u32)pid, .result = -ESRCH };
	err = iterator_run(t->move_link, 0, NULL, NULL);
	return err ? err : move->result;
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

	t->skel->bss->retire = (struct retire_request){ .from = *from, .to = *to };
	err = iterator_run(t->retire_link, sizeof(struct process_record), record_take, &taker);
	if (err)
		return err;
	return t->skel->bss->retire.closing ? -EAGAIN : taker.nr;
}
