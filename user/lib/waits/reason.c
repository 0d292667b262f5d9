// SPDX-License-Identifier: BSD-2-Clause
/*
 * Finds the one reason why many processes wait, by following the waits from process to process. A
 * process can continue by any of its threads, and a wait for one of several processes (children,
 * writers of a pipe) can be ended by any of them: only a set with no way out is a deadlock. Of
 * several ends, the one is chosen that cannot continue by itself, or that differs from its
 * siblings.
 */
#include "base/memory.h"
#include "waits/waits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NOT_FOUND ((size_t)-1)
#define WEIGHT_OF_CYCLE 9
#define WEIGHT_OF_ASKER 0    /* waits only for bpfmon, which computes this answer */
#define WEIGHT_OF_POLL 1     /* which also waits for others */
#define WEIGHT_OF_WAY_OUT 2  /* all named waits lead back, but there is a way out */
#define WEIGHT_OF_GOING_ON 8 /* from this weight on it runs, or is stopped from outside */
#define WEIGHT_OF_OWN_WAY 12 /* bonus if it differs from its siblings */
#define FEWEST_ALIKE 2       /* siblings that must be alike to differ from */

static size_t wait_index(const struct waits *w, pid_t pid)
{
	for (size_t i = 0; i < waits_number(w); i++)
		if (waits_get(w, i)->pid == pid)
			return i;
	return NOT_FOUND;
}

/* Returns whether it waits for a time, event, input or client, so that no process blocks it. */
static bool wait_is_event(const struct wait *wait)
{
	switch (wait->kind) {
	case WAIT_SLEEP:
	case WAIT_SIGNAL:
	case WAIT_ACCEPT:
		return true;
	case WAIT_POLL:
		return wait->is_fed ||
		       (!wait->is_remote && !(wait->unread & (WAIT_NO_CALL | WAIT_NO_FILES)));
	case WAIT_TERMINAL:
		return !wait->writes;
	case WAIT_FUTEX:
		return wait->has_timeout;
	case WAIT_RECEIVE:
		return *wait->object && !wait->has_other_end && !wait->is_remote;
	case WAIT_FILE:
		return (wait->is_nameless && !wait->is_process) ||
		       !strncmp(wait->object, "/dev/", 5);
	case WAIT_IPC:
		return !strcmp(wait->call, "msgrcv") || !strcmp(wait->call, "mq_timedreceive");
	case WAIT_PIPE_READ: /* a FIFO that it holds open itself for later writers */
		return *wait->object && wait->peers == 1 && wait->follow[0] == wait->pid;
	default:
		return false;
	}
}

/* Returns how many of the processes in @follow explain the wait. */
static unsigned wait_count_follows(const struct wait *wait)
{
	/* the process does not wait for its tracer, or for the parent that should reap it */
	if (wait->kind == WAIT_TRACED || wait->kind == WAIT_ZOMBIE || wait->kind == WAIT_ENDED)
		return 0;
	/* a server does not wait for one client, as it waits for new ones as well */
	if (wait->is_fed || (wait->kind != WAIT_POLL && wait_is_event(wait)))
		return 0;
	return wait->follows;
}

/* Returns how much a process explains at the end of a chain. */
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
	case WAIT_FUTEX:
		if (wait->has_timeout)
			return WEIGHT_OF_WAY_OUT;
		/* shared futex: usually a queue that another process reads */
		return wait->futex ? 1 : 7;
	case WAIT_LOCK:
	case WAIT_MUTEX:
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
		return WEIGHT_OF_WAY_OUT;
	default:
		return 1; /* ended, zombie, idle: no process waits for these */
	}
}

/* Facts about all processes, determined before the walks. */
struct view {
	const struct waits *w;
	bool *is_free;      /* owned; not in a deadlock */
	bool *is_different; /* owned; wait differently from most siblings */
};

/* The path of a depth-first walk along the waits. */
struct walk {
	const struct view *view;
	size_t at[8], nr;
	unsigned steps, best; /* over all walks */
};

static bool walk_has(const struct walk *walk, size_t index)
{
	for (size_t i = 0; i < walk->nr; i++)
		if (walk->at[i] == index)
			return true;
	return false;
}

static bool siblings_are(const struct wait *a, const struct wait *b)
{
	return a->parent == b->parent && a->parent > 1 && !strcmp(a->comm, b->comm);
}

/* Returns the process that it waits for: the parent if among them, else the first; 0 if none. */
static pid_t wait_first(const struct wait *wait)
{
	for (unsigned i = 0; i < wait->follows; i++)
		if (wait->follow[i] == wait->parent)
			return wait->parent;
	return wait->follows ? wait->follow[0] : 0;
}

/* A process with the keys that sort it by family, then by wait. */
struct sibling {
	const struct wait *wait;
	size_t at;
	pid_t first;
};

static int number_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int family_compare(const struct sibling *a, const struct sibling *b)
{
	int order = number_compare((uint64_t)a->wait->parent, (uint64_t)b->wait->parent);

	return order ? order : strcmp(a->wait->comm, b->wait->comm);
}

static int sibling_compare(const void *one, const void *other)
{
	const struct sibling *a = one, *b = other;
	int order = family_compare(a, b);

	if (!order)
		order = number_compare(a->wait->kind, b->wait->kind);
	if (!order)
		order = number_compare(a->wait->futex, b->wait->futex);
	return order ? order : number_compare((uint64_t)a->first, (uint64_t)b->first);
}

/*
 * Returns how many from @from on wait alike; 1 if these can continue, as nothing differs from them.
 */
static size_t alike_count(const struct sibling *family, size_t nr, size_t from, size_t *end)
{
	for (*end = from + 1; *end < nr && !sibling_compare(&family[from], &family[*end]); ++*end)
		;
	return end_weight(family[from].wait) < WEIGHT_OF_GOING_ON ? *end - from : 1;
}

/* Marks the members of a family that wait differently from its largest group. */
static void family_differs(const struct sibling *family, size_t nr, bool *is_different)
{
	size_t most = FEWEST_ALIKE - 1, end;

	for (size_t i = 0; i < nr; i = end) {
		size_t alike = alike_count(family, nr, i, &end);

		most = alike > most ? alike : most;
	}
	for (size_t i = 0; most >= FEWEST_ALIKE && i < nr; i = end) {
		bool differs = alike_count(family, nr, i, &end) < most;

		for (size_t k = i; k < end; k++)
			is_different[family[k].at] = differs;
	}
}

/* Finds the processes that wait differently from their siblings. Returns false if out of memory. */
static bool differs_find(struct view *v)
{
	size_t nr = waits_number(v->w), end;
	struct sibling *all = memory_calloc(nr + 1, sizeof(*all));

	if (!all)
		return false;
	for (size_t i = 0; i < nr; i++) {
		const struct wait *wait = waits_get(v->w, i);

		all[i] = (struct sibling){ wait, i, wait_first(wait) };
	}
	qsort(all, nr, sizeof(*all), sibling_compare);
	for (size_t i = 0; i < nr; i = end) {
		for (end = i + 1; end < nr && !family_compare(&all[i], &all[end]); end++)
			;
		if (all[i].wait->parent > 1)
			family_differs(&all[i], end - i, v->is_different);
	}
	free(all);
	return true;
}

/* Keeps the better reason: more weight at the end, then the longer chain. */
static void reason_offer(struct wait_reason *r, struct walk *walk, unsigned weight)
{
	const struct wait *last = waits_get(walk->view->w, walk->at[walk->nr - 1]);

	weight = weight * 16 + (unsigned)walk->nr;
	if (weight <= walk->best)
		return;
	walk->best = weight;
	memset(r, 0, sizeof(*r));
	r->is_found = true;
	r->runs = last->kind == WAIT_RUNS;
	r->is_idle = wait_is_event(last);
	r->links = walk->nr;
	for (size_t i = 0; i < walk->nr; i++)
		r->link[i] = walk->at[walk->nr - 1 - i];
	r->cause = r->link[0];
}

static void end_offer(struct wait_reason *r, struct walk *walk, bool is_asker)
{
	size_t at = walk->at[walk->nr - 1];
	unsigned weight = end_weight(waits_get(walk->view->w, at));

	if (walk->view->is_different[at])
		weight += WEIGHT_OF_OWN_WAY;
	reason_offer(r, walk, is_asker ? WEIGHT_OF_ASKER : weight);
}

/*
 * Offers a cycle: everything that the last process waits for leads back. It is a deadlock unless
 * some process has a way out.
 */
static void cycle_offer(struct wait_reason *r, struct walk *walk)
{
	size_t nr = walk->nr;
	unsigned best = walk->best;

	if (!walk->view->is_free[walk->at[nr - 1]]) {
		reason_offer(r, walk, WEIGHT_OF_CYCLE);
		if (walk->best != best) {
			r->is_deadlock = true;
			r->is_idle = false;
		}
		return;
	}
	while (walk->nr && !waits_get(walk->view->w, walk->at[walk->nr - 1])->out)
		walk->nr--;
	if (walk->nr) {
		reason_offer(r, walk, WEIGHT_OF_WAY_OUT);
		if (walk->best != best)
			r->is_idle = waits_get(walk->view->w, r->cause)->out > WAY_UNKNOWN;
	}
	walk->nr = nr;
}

/*
 * Returns whether a process continues by itself, or waits for one that is unknown, has exited, or
 * is free.
 */
static bool wait_can_continue(const struct waits *w, size_t at, const bool *is_free)
{
	const struct wait *here = waits_get(w, at);

	if (here->out)
		return true;
	for (unsigned i = 0; i < here->ways; i++) {
		size_t next = wait_index(w, here->way[i]);

		if (next == NOT_FOUND || waits_get(w, next)->kind == WAIT_ENDED || is_free[next])
			return true;
	}
	return !here->ways;
}

/*
 * Finds the processes in no deadlock: those that continue, those that wait for one of these, and so
 * on.
 */
static void free_find(struct view *v)
{
	bool has_changed = true;

	while (has_changed) {
		has_changed = false;
		for (size_t i = 0; i < waits_number(v->w); i++)
			if (!v->is_free[i] && wait_can_continue(v->w, i, v->is_free))
				v->is_free[i] = has_changed = true;
	}
}

/*
 * Returns whether a process is in no deadlock and waits for a lock, which is never a wait for work.
 */
static bool differs_by_lock(const struct view *v, size_t at)
{
	const struct wait *wait = waits_get(v->w, at);

	return v->is_different[at] && v->is_free[at] &&
	       (wait->kind == WAIT_LOCK || wait->kind == WAIT_MUTEX);
}

/* Returns whether @heir only inherited what both have from their parent. */
static bool sibling_only_inherits(const struct wait *wait, const struct wait *heir)
{
	return siblings_are(wait, heir) && wait_first(wait) == wait->parent;
}

static void walk_continue(struct walk *walk, struct wait_reason *r);

/* The result of following several processes. */
struct walked {
	bool went, cycle, is_asker;
};

static void walk_each(struct walk *walk, struct wait_reason *r, const pid_t *pids, unsigned nr,
		      struct walked *done)
{
	const struct waits *w = walk->view->w;
	const struct wait *here = waits_get(w, walk->at[walk->nr - 1]);

	for (unsigned i = 0; i < nr; i++) {
		size_t next = wait_index(w, pids[i]);

		/* bpfmon itself may be a child or reader of the process, and never blocks others */
		done->is_asker = done->is_asker || pids[i] == getpid();
		/* a poll of its own pipe is for its other threads or its signal handlers */
		if (pids[i] == here->pid && here->kind == WAIT_POLL)
			continue;
		if (next == NOT_FOUND || pids[i] == getpid() ||
		    waits_get(w, next)->kind == WAIT_ENDED ||
		    sibling_only_inherits(here, waits_get(w, next)))
			continue;
		if (walk_has(walk, next)) {
			done->cycle = true;
			continue;
		}
		done->went = true;
		if (walk->nr < sizeof(walk->at) / sizeof(*walk->at) && ++walk->steps < 4096) {
			walk->at[walk->nr++] = next;
			walk_continue(walk, r);
			walk->nr--;
		}
	}
}

/* Walks depth first, at most as deep as a chain is long. */
static void walk_continue(struct walk *walk, struct wait_reason *r)
{
	const struct wait *here = waits_get(walk->view->w, walk->at[walk->nr - 1]);
	struct walked done = { 0 };

	walk_each(walk, r, here->follow, wait_count_follows(here), &done);
	/* the waits of the reported thread lead back: the other threads count as well */
	if (done.cycle && !done.went)
		walk_each(walk, r, here->way, here->ways, &done);
	if (done.cycle && !differs_by_lock(walk->view, walk->at[walk->nr - 1]))
		cycle_offer(r, walk);
	else if (!done.went)
		end_offer(r, walk, done.is_asker);
	/* fallback where no other end explains more */
	if (here->kind == WAIT_POLL && wait_is_event(here))
		reason_offer(r, walk, WEIGHT_OF_POLL);
}

static bool waits_behind(const struct waits *w, size_t from, size_t cause, unsigned depth)
{
	const struct wait *wait = waits_get(w, from);

	if (from == cause)
		return true;
	for (unsigned i = 0; depth && i < wait_count_follows(wait); i++) {
		size_t next = wait_index(w, wait->follow[i]);

		if (next != NOT_FOUND && waits_behind(w, next, cause, depth - 1))
			return true;
	}
	return false;
}

void waits_reason(const struct waits *w, struct wait_reason *r)
{
	size_t nr = waits_number(w);
	struct view view = { w, memory_calloc(nr + 1, sizeof(bool)),
			     memory_calloc(nr + 1, sizeof(bool)) };
	bool has_room = view.is_free && view.is_different && differs_find(&view);
	struct walk walk = { .view = &view };

	memset(r, 0, sizeof(*r));
	if (has_room)
		free_find(&view);
	for (size_t i = 0; has_room && i < waits_given(w); i++) {
		walk.at[0] = i;
		walk.nr = 1;
		walk.steps = 0;
		if (waits_get(w, i)->kind != WAIT_ENDED)
			walk_continue(&walk, r);
	}
	for (size_t i = 0; r->is_found && i < waits_given(w); i++)
		if (i != r->cause && waits_behind(w, i, r->cause, 4))
			r->behind++;
	free(view.is_free);
	free(view.is_different);
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
		return "waits to read from a pipe that it writes";
	case WAIT_PIPE_WRITE:
		return "waits for it to read from a full pipe";
	case WAIT_RECEIVE:
		return "waits for data from it";
	case WAIT_SEND:
		return "waits for it to receive data";
	default:
		return "waits for it";
	}
}

static void reason_describe_chain(const struct waits *w, const struct wait_reason *r, char *out,
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
		snprintf(out + used, size - used, "; %zu more wait for %s", r->behind - shown,
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
		snprintf(out, size, "all of the processes have ended");
		return;
	}
	wait_text(cause, text, sizeof(text));
	used = (size_t)snprintf(out, size, "%s%d %s %s%s",
				r->is_deadlock && !cause->is_deadlock ? "deadlock: "
				: r->is_idle                          ? "idle: "
								      : "",
				cause->pid, cause->comm,
				cause->kind == WAIT_STOPPED || cause->kind == WAIT_TRACED ||
						cause->kind == WAIT_FROZEN ||
						cause->kind == WAIT_DISK ||
						cause->kind == WAIT_THROTTLED
					? "is "
					: "",
				text);
	if (used < size && r->is_idle && !wait_is_event(cause) && cause->out_tid != cause->tid)
		used += (size_t)snprintf(out + used, size - used,
					 "; its thread %d continues by itself (%s)", cause->out_tid,
					 wait_kind_name(cause->out_kind));
	if (used < size)
		reason_describe_chain(w, r, out, size);
}

/* What a process waited for, in a few words, for the headline of a run that has ended. */
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
