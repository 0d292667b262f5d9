// SPDX-License-Identifier: BSD-2-Clause
/* What a process waited for, in a few words, for the headline of a run that has ended. */
#include "waits/waits.h"

#include <stdio.h>

/* clang-format off */
static const struct {
	const char *what;
	const char *before_peer; /* NULL: the peer is not named */
} causes[NR_WAIT_KINDS] = {
	[WAIT_ENDED] =      { "had ended", NULL },
	[WAIT_HIDDEN] =     { "was hidden", NULL },
	[WAIT_UNREAD] =     { "waited", NULL },
	[WAIT_OTHER] =      { "waited", NULL },
	[WAIT_RUNS] =       { "ran", NULL },
	[WAIT_THROTTLED] =  { "had used up the CPU limit of its cgroup", NULL },
	[WAIT_IDLE] =       { "was idle", NULL },
	[WAIT_STOPPED] =    { "was stopped by a signal", NULL },
	[WAIT_TRACED] =     { "was stopped by its tracer", "" },
	[WAIT_FROZEN] =     { "was frozen", NULL },
	[WAIT_ZOMBIE] =     { "had ended, and was not reaped", " by" },
	[WAIT_DISK] =       { "waited for a disk or the kernel", NULL },
	[WAIT_SERVER] =     { "waited for a file system", " served by" },
	[WAIT_LOCK] =       { "waited for a lock", " held by" },
	[WAIT_MUTEX] =      { "waited for a mutex", " held by" },
	[WAIT_JOIN] =       { "waited for its thread", NULL },
	[WAIT_FUTEX] =      { "waited for a futex", NULL },
	[WAIT_PIPE_OPEN] =  { "waited for the other end of a FIFO", NULL },
	[WAIT_PIPE_READ] =  { "waited for data in a pipe", " from" },
	[WAIT_PIPE_WRITE] = { "waited for room in a pipe", " to" },
	[WAIT_RECEIVE] =    { "waited for data at a socket", " from" },
	[WAIT_SEND] =       { "waited for room in a socket", " to" },
	[WAIT_CONNECT] =    { "waited for a connection", " with" },
	[WAIT_ACCEPT] =     { "waited for a client", NULL },
	[WAIT_CHILD] =      { "waited for its child", "" },
	[WAIT_TERMINAL] =   { "waited for its terminal", NULL },
	[WAIT_FILE] =       { "waited for a file", NULL },
	[WAIT_IPC] =        { "waited for a queue or semaphore", NULL },
	[WAIT_URING] =      { "waited in io_uring", NULL },
	[WAIT_POLL] =       { "waited for events", NULL },
	[WAIT_SLEEP] =      { "slept until a set time", NULL },
	[WAIT_SIGNAL] =     { "waited for a signal", NULL },
};
/* clang-format on */

/* Returns the process to name: the one that waits for a lock rather than the one that holds it. */
static const struct wait *cause_find(const struct waits *w, const struct wait_reason *r)
{
	const struct wait *cause = waits_get(w, r->cause);
	const struct wait *next = r->links > 1 ? waits_get(w, r->link[1]) : cause;

	return next->kind == WAIT_LOCK || next->kind == WAIT_MUTEX ? next : cause;
}

bool waits_cause_is_known(const struct waits *w, const struct wait_reason *r)
{
	return r->is_found && cause_find(w, r)->kind > WAIT_IDLE;
}

void waits_cause_text(const struct waits *w, const struct wait_reason *r, char *out, size_t size)
{
	const struct wait *c = cause_find(w, r);
	const char *before = causes[c->kind].before_peer;
	int n = snprintf(out, size, "%s%s %s", r->is_deadlock ? "deadlock: " : "", c->comm,
			 causes[c->kind].what);

	if (before && c->peers && c->peer[0].pid != c->pid && n > 0 && (size_t)n < size)
		snprintf(out + n, size - (size_t)n, "%s %d%s%s", before, c->peer[0].pid,
			 *c->peer[0].comm ? " " : "", c->peer[0].comm);
}
