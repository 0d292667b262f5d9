// SPDX-License-Identifier: BSD-2-Clause
/* A set of processes that are asked about together. */
#include "waits/ways.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_FOLLOWED 64 /* processes that were not asked about */

struct asked {
	struct wait wait;
	struct other_end end;
	struct way_list ways; /* while they are searched for */
	uint64_t start_epoch_ns;
};

struct waits {
	struct asked *all; /* owned */
	size_t nr, room;
	size_t given; /* by the caller; those after them were followed */
	struct scan_memory memory;
};

struct waits *waits_new(void)
{
	return calloc(1, sizeof(struct waits));
}

void waits_free(struct waits *w)
{
	if (w) {
		free(w->all);
		scan_memory_done(&w->memory);
	}
	free(w);
}

void waits_clear(struct waits *w)
{
	w->nr = 0;
	w->given = 0;
}

static int waits_put(struct waits *w, pid_t pid, uint64_t start_epoch_ns)
{
	for (size_t i = 0; i < w->nr; i++)
		if (w->all[i].wait.pid == pid)
			return (int)i;
	if (w->nr == w->room) {
		size_t room = w->room ? 2 * w->room : 16;
		struct asked *all = reallocarray(w->all, room, sizeof(*all));

		if (!all)
			return -ENOMEM;
		w->all = all;
		w->room = room;
	}
	memset(&w->all[w->nr], 0, sizeof(*w->all));
	w->all[w->nr].wait.pid = pid;
	w->all[w->nr].start_epoch_ns = start_epoch_ns;
	return (int)w->nr++;
}

int waits_add(struct waits *w, pid_t pid, uint64_t start_epoch_ns)
{
	int at;

	w->nr = w->given;
	at = waits_put(w, pid, start_epoch_ns);
	w->given = w->nr;
	return at;
}

static int asked_look(struct asked *a, struct look *look, bool with_ways)
{
	pid_t pid = a->wait.pid;

	memset(&a->wait, 0, sizeof(a->wait));
	memset(&a->end, 0, sizeof(a->end));
	a->wait.pid = pid;
	a->wait.start_epoch_ns = a->start_epoch_ns;
	return look_at(look, &a->wait, &a->end, with_ways ? &a->ways : NULL);
}

/* Searches for the other ends of what those from @from on, with @ways ways, wait for. */
static int waits_scan(struct waits *w, size_t from, size_t ways, bool all)
{
	struct scan_item *items = calloc(w->nr - from + ways + 1, sizeof(*items));
	size_t nr = 0;
	int err;

	if (!items)
		return -ENOMEM;
	for (size_t i = from; i < w->nr; i++) {
		struct asked *a = &w->all[i];

		if (a->end.is_wanted)
			items[nr++] = (struct scan_item){ &a->wait, &a->end };
		for (size_t k = 0; k < a->ways.nr; k++)
			if (a->ways.at[k].end.is_wanted)
				items[nr++] = (struct scan_item){ &a->ways.at[k].wait,
								  &a->ways.at[k].end };
	}
	err = scan_ends(items, nr, w, &w->memory, all);
	free(items);
	return err;
}

/* Reads those from @from on. @all: also what all of their threads wait for, in all processes. */
static int waits_look(struct waits *w, struct look *look, size_t from, bool all)
{
	size_t ways = 0;
	int err = 0;

	for (size_t i = from; i < w->nr && !err; i++) {
		err = asked_look(&w->all[i], look, all);
		ways += w->all[i].ways.nr;
	}
	if (!err)
		err = waits_scan(w, from, ways, all);
	for (size_t i = from; i < w->nr; i++) {
		struct asked *a = &w->all[i];

		a->wait.is_socket = !strncmp(a->end.link, "socket:", 7);
		ways_finish(&a->wait, &a->ways);
		if (all && a->wait.kind == WAIT_POLL && !a->wait.is_fed)
			children_follow(&a->wait);
		way_list_done(&a->ways);
	}
	return err;
}

/* What may move the array that @pids is of. */
static int waits_put_all(struct waits *w, const pid_t *pids, unsigned nr)
{
	pid_t copy[WAIT_FOLLOWED];
	int at = 0;

	memcpy(copy, pids, nr * sizeof(*copy));
	for (unsigned i = 0; i < nr && at >= 0; i++)
		if (w->nr < w->given + MAX_FOLLOWED && copy[i] != getpid())
			at = waits_put(w, copy[i], 0);
	return at < 0 ? at : 0;
}

/* Adds those that the ones from @from on wait for. */
static int waits_follow(struct waits *w, size_t from)
{
	size_t end = w->nr;
	int err = 0;

	for (size_t i = from; i < end && !err; i++) {
		err = waits_put_all(w, w->all[i].wait.follow, w->all[i].wait.follows);
		if (!err)
			err = waits_put_all(w, w->all[i].wait.way, w->all[i].wait.ways);
	}
	return err;
}

/* False: out of memory. */
static bool waits_look_throttled(struct waits *w)
{
	struct wait **ready = calloc(w->nr + 1, sizeof(*ready));
	size_t nr = 0;

	for (size_t i = 0; ready && i < w->nr; i++)
		if (w->all[i].wait.kind == WAIT_RUNS)
			ready[nr++] = &w->all[i].wait;
	throttles_look(ready, nr);
	free(ready);
	return ready != NULL;
}

int waits_read(struct waits *w, bool follow)
{
	struct look look = { 0 };
	size_t from = 0;
	int err;

	w->nr = w->given;
	do {
		size_t end = w->nr;

		err = waits_look(w, &look, from, follow);
		if (!err && follow)
			err = waits_follow(w, from);
		from = end;
	} while (!err && from < w->nr);
	look_done(&look);
	if (!err && follow && !waits_look_throttled(w))
		err = -ENOMEM;
	return err;
}

size_t waits_number(const struct waits *w)
{
	return w->nr;
}

size_t waits_given(const struct waits *w)
{
	return w->given;
}

const struct wait *waits_get(const struct waits *w, size_t at)
{
	return at < w->nr ? &w->all[at].wait : NULL;
}
