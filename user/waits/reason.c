// SPDX-License-Identifier: BSD-2-Clause
/*
 * The one reason for many processes: follows the waits from process to process, to the end. A wait
 * for one of several (children, writers of a pipe) goes on by any of them, so that only a set with
 * no way out is a deadlock; of several ends the one counts that will not go on by itself.
 */
#include "waits/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_FOUND ((size_t)-1)
#define WEIGHT_OF_CYCLE 9
#define WEIGHT_OF_ASKER 0 /* it waits for this answer only */

static size_t wait_index(const struct waits *w, pid_t pid)
{
	for (size_t i = 0; i < waits_number(w); i++)
		if (waits_get(w, i)->pid == pid)
			return i;
	return NOT_FOUND;
}

static unsigned peers_kept(const struct wait *wait)
{
	/* a tracer or a parent that does not reap is no wait of the process */
	if (wait->kind == WAIT_TRACED || wait->kind == WAIT_ZOMBIE || wait->kind == WAIT_ENDED)
		return 0;
	return wait->peers < WAIT_PEERS ? wait->peers : WAIT_PEERS;
}

/* How much a process explains at the end of a chain. */
static unsigned end_weight(const struct wait *wait)
{
	switch (wait->kind) {
	case WAIT_RUNS:
	case WAIT_THROTTLED:
		return 10;
	case WAIT_STOPPED:
	case WAIT_TRACED:
	case WAIT_FROZEN:
		return 9;
	case WAIT_DISK:
	case WAIT_SERVER:
		return 8;
	case WAIT_LOCK:
	case WAIT_MUTEX:
	case WAIT_FUTEX:
	case WAIT_PIPE_OPEN:
		return 7;
	case WAIT_RECEIVE:
	case WAIT_SEND:
	case WAIT_CONNECT:
	case WAIT_PIPE_READ:
	case WAIT_PIPE_WRITE:
		return 6;
	case WAIT_TERMINAL:
	case WAIT_FILE:
	case WAIT_IPC:
	case WAIT_URING:
		return 5;
	case WAIT_OTHER:
	case WAIT_CHILD:
	case WAIT_JOIN:
	case WAIT_UNREAD:
	case WAIT_HIDDEN:
		return 4;
	case WAIT_POLL:
	case WAIT_ACCEPT:
	case WAIT_SIGNAL:
		return 3;
	case WAIT_SLEEP:
		return 2;
	default:
		return 1; /* ended, zombie, idle: no process waits for these */
	}
}

/* A way from a process to what it waits for, as far as it goes. */
struct walk {
	const struct waits *w;
	const bool *are_free; /* which are in no deadlock */
	size_t at[8], nr;
};

static bool walk_has(const struct walk *walk, size_t index)
{
	for (size_t i = 0; i < walk->nr; i++)
		if (walk->at[i] == index)
			return true;
	return false;
}

/* The better of two: more weight at the end, then the longer. */
static void reason_offer(struct wait_reason *r, const struct walk *walk, bool is_cycle,
			 unsigned end, unsigned *best)
{
	const struct wait *last = waits_get(walk->w, walk->at[walk->nr - 1]);
	unsigned weight = end * 16 + (unsigned)walk->nr;

	if (weight <= *best)
		return;
	*best = weight;
	r->is_found = true;
	r->is_deadlock = is_cycle;
	r->runs = last->kind == WAIT_RUNS;
	r->links = walk->nr;
	for (size_t i = 0; i < walk->nr; i++)
		r->link[i] = walk->at[walk->nr - 1 - i];
	r->cause = r->link[0];
}

/* Whether it waits for processes of which one is in the set, and goes on when one of these does. */
static bool wait_goes_on(const struct waits *w, size_t at, const bool *are_free)
{
	const struct wait *here = waits_get(w, at);
	bool went = false;

	if (here->peers > WAIT_PEERS || here->unread & WAIT_NO_OTHERS)
		return true;
	for (unsigned i = 0; i < peers_kept(here); i++) {
		size_t next = wait_index(w, here->peer[i].pid);

		if (next == NOT_FOUND || waits_get(w, next)->kind == WAIT_ENDED)
			continue;
		if (are_free[next])
			return true;
		went = true;
	}
	return !went;
}

/*
 * Finds which are in no deadlock: those that wait for no process, those that wait for one of these,
 * and so on. NULL: out of memory.
 */
static bool *free_find(const struct waits *w)
{
	size_t nr = waits_number(w);
	bool *are_free = calloc(nr + 1, sizeof(*are_free)), has_changed = are_free != NULL;

	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < nr; i++)
			if (!are_free[i] && wait_goes_on(w, i, are_free))
				are_free[i] = has_changed = true;
	}
	return are_free;
}

/* Depth first, within the few processes that a chain can have. */
static void walk_on(struct walk *walk, struct wait_reason *r, unsigned *best, unsigned *steps)
{
	size_t at = walk->at[walk->nr - 1];
	const struct wait *here = waits_get(walk->w, at);
	bool went = false, cycle = false, asks = false;

	for (unsigned i = 0; i < peers_kept(here); i++) {
		size_t next = wait_index(walk->w, here->peer[i].pid);

		/* bpfmon may be the child or the reader of a process: it holds up no other one */
		asks = asks || here->peer[i].pid == getpid();
		if (next == NOT_FOUND || here->peer[i].pid == getpid() ||
		    waits_get(walk->w, next)->kind == WAIT_ENDED)
			continue;
		went = true;
		if (walk_has(walk, next)) {
			cycle = true;
		} else if (walk->nr < sizeof(walk->at) / sizeof(*walk->at) && ++*steps < 4096) {
			walk->at[walk->nr++] = next;
			walk_on(walk, r, best, steps);
			walk->nr--;
		}
	}
	if (!went)
		reason_offer(r, walk, false, asks ? WEIGHT_OF_ASKER : end_weight(here), best);
	else if (cycle && !walk->are_free[at])
		reason_offer(r, walk, true, WEIGHT_OF_CYCLE, best);
}

static bool waits_behind(const struct waits *w, size_t from, size_t cause, unsigned depth)
{
	const struct wait *wait = waits_get(w, from);

	if (from == cause)
		return true;
	for (unsigned i = 0; depth && i < peers_kept(wait); i++) {
		size_t next = wait_index(w, wait->peer[i].pid);

		if (next != NOT_FOUND && waits_behind(w, next, cause, depth - 1))
			return true;
	}
	return false;
}

void waits_reason(const struct waits *w, struct wait_reason *r)
{
	unsigned best = 0, steps = 0;
	bool *is_free = free_find(w);

	memset(r, 0, sizeof(*r));
	for (size_t i = 0; is_free && i < waits_given(w); i++) {
		struct walk walk = { w, is_free, { i }, 1 };

		if (waits_get(w, i)->kind != WAIT_ENDED)
			walk_on(&walk, r, &best, &steps);
	}
	for (size_t i = 0; r->is_found && i < waits_given(w); i++)
		if (i != r->cause && waits_behind(w, i, r->cause, 4))
			r->behind++;
	free(is_free);
}

static const char *relation_word(const struct wait *wait)
{
	switch (wait->kind) {
	case WAIT_CHILD:
		return "waits for it to end";
	case WAIT_LOCK:
		return "waits for a lock that it holds";
	case WAIT_MUTEX:
		return "waits for a mutex that it holds";
	case WAIT_PIPE_READ:
		return "waits for what it would write into a pipe";
	case WAIT_PIPE_WRITE:
		return "waits for it to read a full pipe";
	case WAIT_RECEIVE:
		return "waits for what it would send";
	case WAIT_SEND:
		return "waits for it to receive";
	default:
		return "waits for it";
	}
}

static void reason_say_rest(const struct waits *w, const struct wait_reason *r, char *out,
			    size_t size)
{
	size_t shown = r->links > 1 ? 1 : 0, used = strlen(out);

	for (size_t i = 1; i < r->links && i < 3 && used < size; i++) {
		const struct wait *link = waits_get(w, r->link[i]);

		shown = i;
		used += (size_t)snprintf(out + used, size - used, "; %d %s %s", link->pid,
					 link->comm,
					 i == 1 ? relation_word(link) : "waits for that");
	}
	if (r->behind > shown && used < size)
		snprintf(out + used, size - used, "; %zu more wait behind %s", r->behind - shown,
			 shown ? "them" : "it");
}

void waits_reason_text(const struct waits *w, const struct wait_reason *r, char *out, size_t size)
{
	const struct wait *cause = waits_get(w, r->cause);
	char text[WAIT_TEXT];
	size_t used;

	if (!size)
		return;
	out[0] = '\0';
	if (!r->is_found) {
		snprintf(out, size, "none of the processes lives");
		return;
	}
	wait_text(cause, text, sizeof(text));
	used = (size_t)snprintf(
		out, size, "%s%d %s %s%s",
		r->is_deadlock && !cause->is_deadlock ? "deadlock: " : "", cause->pid, cause->comm,
		cause->kind == WAIT_STOPPED || cause->kind == WAIT_TRACED ||
				cause->kind == WAIT_FROZEN || cause->kind == WAIT_DISK ||
				cause->kind == WAIT_THROTTLED
			? "is "
			: "",
		text);
	if (used < size)
		reason_say_rest(w, r, out, size);
}
