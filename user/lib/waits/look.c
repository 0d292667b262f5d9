// SPDX-License-Identifier: BSD-2-Clause
#include "waits/look.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "waits/syscalls.h"
#include "waits/task.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_THREADS 128 /* examined threads */

struct thread_view {
	struct task_view task;
	enum wait_kind kind;
	struct futex_view futex; /* details if WAIT_FUTEX */
};

/*
 * Chooses the thread to report for a process: one with an unusual wait, or else the main thread,
 * unless that waits for other threads. Threads of libraries come last.
 */

/* The thread with the highest rank is reported. */
static const unsigned char kind_rank[NR_WAIT_KINDS] = {
	[WAIT_RUNS] = 100,      [WAIT_STOPPED] = 95,   [WAIT_TRACED] = 95, [WAIT_FROZEN] = 95,
	[WAIT_DISK] = 90,       [WAIT_SERVER] = 89,    [WAIT_LOCK] = 85,   [WAIT_PIPE_OPEN] = 80,
	[WAIT_PIPE_WRITE] = 78, [WAIT_PIPE_READ] = 76, [WAIT_SEND] = 74,   [WAIT_RECEIVE] = 72,
	[WAIT_CONNECT] = 72,    [WAIT_FILE] = 70,      [WAIT_CHILD] = 68,  [WAIT_TERMINAL] = 66,
	[WAIT_IPC] = 60,        [WAIT_MUTEX] = 55,     [WAIT_URING] = 50,  [WAIT_OTHER] = 48,
	[WAIT_ACCEPT] = 45,     [WAIT_POLL] = 40,      [WAIT_SLEEP] = 35,  [WAIT_UNREAD] = 30,
	[WAIT_SIGNAL] = 25,     [WAIT_JOIN] = 20,      [WAIT_FUTEX] = 15,  [WAIT_IDLE] = 5,
};

/* Prefixes of the names of threads that libraries and runtimes start. */
static const char *const helper_names[] = {
	"V8Worker",
	"libuv-worker",
	"DelayedTaskSche",
	"GC Thread",
	"G1 ",
	"C1 Comp",
	"C2 Comp",
	"VM ",
	"Signal Dispatch",
	"Reference Handl",
	"Finalizer",
	"Common-Clean",
	"Service Thread",
	"Monitor Deflat",
	"Notification Th",
	"Attach Lis",
	"Sweeper thr",
	"jemalloc_bg_thd",
	"gmain",
	"gdbus",
	"dconf wor",
	"pool-spawner",
	"grpc_",
	"cuda",
	"iou-",
};

/*
 * Reads up to MAX_THREADS threads, the main thread first if it is alive. Returns their number. Sets
 * WAIT_NO_THREADS if there are more.
 */
static size_t threads_read(struct wait *wait, struct thread_view *threads)
{
	__cleanup(closedirp) DIR *folder = NULL;
	struct dirent *entry;
	char path[64];
	size_t nr = 0;

	snprintf(path, sizeof(path), "/proc/%d/task", wait->pid);
	folder = memory_opendir(path);
	while (folder && (entry = readdir(folder))) {
		struct thread_view *t = &threads[nr];

		if (entry->d_name[0] == '.')
			continue;
		if (nr == MAX_THREADS) {
			wait->unread |= WAIT_NO_THREADS;
			break;
		}
		if (task_read(wait->pid, atoi(entry->d_name), &t->task))
			continue;
		t->kind = detail_kind(&t->task);
		t->futex.kind = WAIT_FUTEX;
		if (t->kind == WAIT_FUTEX && t->task.has_call) {
			t->futex.pid = wait->pid;
			futex_look(wait->pid, &t->task, &t->futex);
		}
		nr++;
	}
	return nr;
}

static struct thread_view *thread_of(struct thread_view *threads, size_t nr, pid_t tid)
{
	for (size_t i = 0; tid && i < nr; i++)
		if (threads[i].task.tid == tid)
			return &threads[i];
	return NULL;
}

/* Returns whether the chain of mutex holders from the thread leads back to it. */
static bool thread_is_deadlocked(struct thread_view *threads, size_t nr,
				 const struct thread_view *from)
{
	const struct thread_view *at = from;

	for (size_t i = 0; i < nr && at && at->futex.kind == WAIT_MUTEX; i++) {
		at = thread_of(threads, nr, at->futex.tid);
		if (at == from)
			return true;
	}
	return false;
}

static bool thread_is_helper(const struct thread_view *t)
{
	for (size_t i = 0; i < sizeof(helper_names) / sizeof(*helper_names); i++)
		if (!strncmp(t->task.stat.comm, helper_names[i], strlen(helper_names[i])))
			return true;
	return false;
}

/* Returns the kind of wait, refined by the futex. */
static enum wait_kind thread_kind(const struct thread_view *t)
{
	return t->kind == WAIT_FUTEX ? t->futex.kind : t->kind;
}

static unsigned thread_rank(const struct thread_view *t, pid_t pid)
{
	unsigned rank = kind_rank[thread_kind(t)];

	return rank < kind_rank[WAIT_LOCK] && t->task.tid != pid && thread_is_helper(t) ? 1 : rank;
}

/* Returns the first thread with the highest rank. */
static struct thread_view *thread_highest_rank(struct thread_view *threads, size_t nr, pid_t pid)
{
	struct thread_view *best = &threads[0];

	for (size_t i = 1; i < nr; i++)
		if (thread_rank(&threads[i], pid) > thread_rank(best, pid))
			best = &threads[i];
	return best;
}

/* Returns the main thread, or the thread that it joins; NULL if it has exited before the others. */
static struct thread_view *thread_main(struct thread_view *threads, size_t nr, pid_t pid)
{
	struct thread_view *t = thread_of(threads, nr, pid);

	for (size_t i = 0; i < nr && t && thread_kind(t) == WAIT_JOIN; i++) {
		struct thread_view *joined = thread_of(threads, nr, t->futex.tid);

		if (!joined)
			return t;
		t = joined;
	}
	return t && t->kind != WAIT_ZOMBIE ? t : NULL;
}

/* Returns whether the thread waits for other threads of the process. */
static bool thread_waits_for_others(const struct thread_view *t)
{
	return thread_kind(t) == WAIT_FUTEX || thread_kind(t) == WAIT_JOIN;
}

static struct thread_view *thread_find(struct wait *wait, struct thread_view *threads, size_t nr)
{
	struct thread_view *best = thread_highest_rank(threads, nr, wait->pid), *leader;
	unsigned rank = thread_rank(best, wait->pid);

	if (rank >= kind_rank[WAIT_LOCK])
		return best;
	for (size_t i = 0; i < nr; i++)
		if (thread_is_deadlocked(threads, nr, &threads[i])) {
			wait->is_deadlock = true;
			return &threads[i];
		}
	leader = thread_main(threads, nr, wait->pid);
	if (!leader)
		return best;
	if (thread_waits_for_others(leader))
		return rank > kind_rank[WAIT_JOIN] ? best : leader;
	if (kind_rank[thread_kind(leader)] >= kind_rank[WAIT_MUTEX])
		return leader;
	/* a mutex with a known holder says more than a wait for events */
	for (size_t i = 0; i < nr; i++)
		if (thread_kind(&threads[i]) == WAIT_MUTEX)
			return &threads[i];
	return leader;
}

/*
 * Chooses the thread to report. Sets the members of @wait that depend on the other threads: alike,
 * is_deadlock, holder_kind.
 */
static struct thread_view *thread_choose(struct wait *wait, struct thread_view *threads, size_t nr)
{
	struct thread_view *chosen = thread_find(wait, threads, nr), *holder;

	for (size_t i = 0; i < nr; i++)
		wait->alike +=
			thread_kind(&threads[i]) == thread_kind(chosen) &&
			(chosen->kind != WAIT_FUTEX || threads[i].futex.tid == chosen->futex.tid);
	holder = thread_of(threads, nr, chosen->futex.tid);
	wait->holder_kind = holder ? holder->kind : WAIT_UNREAD;
	return chosen;
}

#define START_TOLERANCE_NS (2 * NSEC_PER_SEC) /* the clock may have been set meanwhile */

void look_done(struct look *look)
{
	net_tables_done(&look->net);
	free(look->locks);
	look->locks = NULL;
}

static uint64_t ticks_to_epoch(uint64_t ticks)
{
	uint64_t boot = clock_ns(CLOCK_REALTIME) - clock_ns(CLOCK_BOOTTIME);

	return boot + ticks * (NSEC_PER_SEC / (uint64_t)sysconf(_SC_CLK_TCK));
}

static bool start_is(uint64_t asked, uint64_t start)
{
	uint64_t apart = asked > start ? asked - start : start - asked;

	return !asked || apart <= START_TOLERANCE_NS;
}

static void tracer_look(struct wait *wait)
{
	char path[64], text[4096], *at;
	pid_t tracer;

	snprintf(path, sizeof(path), "/proc/%d/status", wait->pid);
	if (proc_read(path, text, sizeof(text)) < 0)
		return;
	at = strstr(text, "\nTracerPid:");
	tracer = at ? atoi(at + 11) : 0;
	if (tracer > 0)
		wait_add_peer(wait, tracer);
}

static void wait_note_unread(struct wait *wait, const struct task_view *task)
{
	if (!strchr("SD", task->stat.state))
		return;
	if (!*task->channel)
		wait->unread |= WAIT_NO_CHANNEL;
	if (!task->has_call)
		wait->unread |= WAIT_NO_CALL;
}

/* Sets @wait and @end to what the thread waits for. */
static void look_at_thread(struct look *look, struct wait *wait, struct other_end *end,
			   const struct thread_view *thread)
{
	const struct task_view *task = &thread->task;
	const struct call *call = call_of_task(task);

	wait->kind = thread->kind;
	wait->state = task->stat.state;
	wait->tid = task->tid;
	wait->has_timeout = call_has_timeout(task);
	snprintf(wait->call, sizeof(wait->call), "%s", call ? call->name : "");
	snprintf(wait->channel, sizeof(wait->channel), "%s", task->channel);
	wait_note_unread(wait, task);
	if (wait->kind == WAIT_DISK || wait->kind == WAIT_UNREAD || wait->kind == WAIT_FROZEN)
		freezer_look(wait);
	if (wait->kind == WAIT_TRACED)
		tracer_look(wait);
	else if (wait->kind == WAIT_ZOMBIE)
		wait_add_peer(wait, wait->parent);
	else
		detail_look(look, wait, end, task);
	if (wait->kind == WAIT_FUTEX && task->has_call)
		wait->futex = futex_file(wait->pid, task->argument[0]);
	children_look_signalled(wait, end, task);
	launcher_look(wait, end);
}

#define MAX_WAYS 64 /* of a process; one with more counts as able to continue */

void way_list_done(struct way_list *list)
{
	free(list->at);
	memset(list, 0, sizeof(*list));
}

static void wait_note_way_out(struct wait *wait, enum way_out out, const struct wait *of)
{
	if (out <= wait->out)
		return;
	wait->out = out;
	wait->out_tid = of->tid;
	wait->out_kind = of->kind;
}

static int way_add(struct wait *wait, struct way_list *list, const struct way *way)
{
	if (list->nr == MAX_WAYS) {
		wait_note_way_out(wait, WAY_UNKNOWN, &way->wait);
		return 0;
	}
	if (list->nr == list->room) {
		size_t room = list->room ? 4 * list->room : 1;
		struct way *at = memory_reallocarray(list->at, room, sizeof(*at));

		if (!at)
			return -ENOMEM;
		list->at = at;
		list->room = room;
	}
	list->at[list->nr++] = *way;
	return 0;
}

/*
 * Returns what ends a wait for a file that is neither pipe nor connection: changes of files and
 * devices come from outside; timers, signals, wake-ups of an event loop and output of a child do
 * not.
 */
static enum way_out file_out(const struct wait *wait)
{
	bool is_device = !strncmp(wait->object, "/dev/", 5) && !strstr(wait->object, "ptmx");

	return is_device || strstr(wait->object, "notify") ? WAY_OUTSIDE : WAY_ITSELF;
}

/* Returns what ends a wait of a known kind; WAY_NONE if only other processes can. */
static enum way_out kind_out(const struct wait *wait, const struct other_end *end)
{
	switch (wait->kind) {
	case WAIT_PIPE_READ:
	case WAIT_PIPE_WRITE:
	case WAIT_LOCK:
	case WAIT_CHILD:
	case WAIT_MUTEX:
		return end->is_wanted || wait->peers ? WAY_NONE : WAY_UNKNOWN;
	case WAIT_RECEIVE:
	case WAIT_SEND:
		if (end->is_wanted)
			return WAY_NONE;
		return *wait->object ? WAY_OUTSIDE : WAY_UNKNOWN;
	case WAIT_ACCEPT:
	case WAIT_CONNECT:
	case WAIT_TERMINAL:
	case WAIT_PIPE_OPEN:
		return WAY_OUTSIDE;
	case WAIT_FILE:
		return wait->is_process && wait->peers ? WAY_NONE : file_out(wait);
	case WAIT_OTHER:
	case WAIT_UNREAD:
	case WAIT_HIDDEN:
		return WAY_UNKNOWN;
	default:
		return WAY_ITSELF;
	}
}

/* Returns whether a poll waits to write: an end of a pipe is open for either reading or writing. */
static bool descriptor_is_written(pid_t pid, int fd)
{
	char path[64];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
	return !lstat(path, &st) && !(st.st_mode & S_IRUSR);
}

static int poll_ways(struct look *look, struct wait *wait, struct way_list *list,
		     const struct thread_view *t, bool is_chosen)
{
	/* the poll of a shell or of bpfmon for a child was renamed to WAIT_CHILD */
	bool is_named = is_chosen && wait->kind == WAIT_POLL;
	int fds[MAX_WAYS], err = 0;
	unsigned nr = poll_descriptors(wait->pid, &t->task, fds, MAX_WAYS);
	struct way way = { .wait = { .pid = wait->pid, .tid = t->task.tid, .kind = WAIT_POLL } };

	if (!nr || nr > MAX_WAYS || fds[0] < 0)
		wait_note_way_out(wait, WAY_UNKNOWN, &way.wait);
	if (is_named && nr > MAX_WAYS) /* a server: no single client blocks it */
		wait->is_fed = true;
	for (unsigned i = 0; i < nr && i < MAX_WAYS && fds[i] >= 0 && !err; i++) {
		enum way_out out;

		memset(&way, 0, sizeof(way));
		way.is_poll = true;
		way.wait.pid = wait->pid;
		way.wait.tid = t->task.tid;
		way.wait.fd = fds[i];
		way.wait.state = t->task.stat.state;
		way.wait.kind = descriptor_look(look, &way.wait, &way.end, fds[i],
						descriptor_is_written(wait->pid, fds[i]));
		out = kind_out(&way.wait, &way.end);
		if (is_named && way.wait.is_remote)
			wait->is_remote = true;
		else if (is_named && out == WAY_OUTSIDE)
			wait->is_fed = true;
		way.wait.kind = WAIT_POLL;
		if (out)
			wait_note_way_out(wait, out, &way.wait);
		else
			err = way_add(wait, list, &way);
	}
	return err;
}

static bool futex_is_shared(const struct task_view *task)
{
	return !task->has_call || !(task->argument[1] & FUTEX_PRIVATE_FLAG);
}

static int thread_ways(struct look *look, struct wait *wait, struct way_list *list,
		       const struct thread_view *t, bool is_chosen)
{
	struct way way = {
		.wait = { .pid = wait->pid, .tid = t->task.tid, .kind = t->kind, .fd = -1 }
	};
	enum way_out out;

	if (t->kind == WAIT_ZOMBIE)
		return 0;
	if (call_has_timeout(&t->task))
		wait_note_way_out(wait, WAY_ITSELF, &way.wait);
	if (t->kind == WAIT_POLL)
		return poll_ways(look, wait, list, t, is_chosen);
	if (t->kind == WAIT_FUTEX && t->futex.kind != WAIT_FUTEX && t->futex.pid == wait->pid)
		return 0;
	if (t->kind == WAIT_FUTEX && t->futex.kind == WAIT_FUTEX) {
		if (futex_is_shared(&t->task))
			wait_note_way_out(wait, t->task.has_call ? WAY_ITSELF : WAY_UNKNOWN,
					  &way.wait);
		return 0;
	}
	if (t->kind == WAIT_SIGNAL) {
		wait_note_way_out(wait, WAY_ITSELF, &way.wait);
		return 0;
	}
	look_at_thread(look, &way.wait, &way.end, t);
	out = kind_out(&way.wait, &way.end);
	if (!out)
		return way_add(wait, list, &way);
	wait_note_way_out(wait, out, &way.wait);
	return 0;
}

/*
 * Examines all threads of @wait; @chosen is the reported one. Sets out and is_fed, and appends to
 * @list the waits that only other processes can end. Returns 0 or -ENOMEM.
 */
static int ways_look(struct look *look, struct wait *wait, struct way_list *list,
		     const struct thread_view *threads, size_t nr, const struct thread_view *chosen)
{
	int err = 0;

	if (wait->unread & WAIT_NO_THREADS)
		wait_note_way_out(wait, WAY_UNKNOWN, wait);
	for (size_t i = 0; i < nr && !err; i++)
		err = thread_ways(look, wait, list, &threads[i], &threads[i] == chosen);
	return err;
}

static void way_join(struct wait *wait, pid_t pid)
{
	for (unsigned i = 0; i < wait->ways; i++)
		if (wait->way[i] == pid)
			return;
	if (wait->ways < WAIT_FOLLOWED)
		wait->way[wait->ways++] = pid;
	else
		wait_note_way_out(wait, WAY_UNKNOWN, wait);
}

static bool only_itself_has(const struct wait *wait)
{
	return wait->follows == 1 && wait->follow[0] == wait->pid;
}

/*
 * Finishes a poll, which waits for any of its descriptors. One shared with another process is
 * reported rather than a pipe of its own.
 */
static void poll_finish(struct wait *wait, const struct way *way)
{
	if (way->wait.follows && only_itself_has(wait) && !only_itself_has(&way->wait)) {
		wait->fd = way->wait.fd;
		wait->is_socket = !strncmp(way->end.link, "socket:", 7);
		snprintf(wait->object, sizeof(wait->object), "%s",
			 *way->wait.object ? way->wait.object
					   : other_end_word(&way->wait, &way->end));
		wait_copy_peers(wait, &way->wait);
	}
	for (unsigned i = 0; i < way->wait.follows; i++)
		wait_follow(wait, way->wait.follow[i]);
}

void ways_finish(struct wait *wait, const struct way_list *list)
{
	for (size_t i = 0; i < list->nr; i++) {
		const struct way *way = &list->at[i];
		const struct wait *of = &way->wait;

		if (way->is_poll && of->tid == wait->tid && wait->kind == WAIT_POLL)
			poll_finish(wait, way);
		/* any process may open a FIFO by name */
		if (only_itself_has(of) && way->end.link[0] == '/' && !*way->end.request.kind)
			wait_note_way_out(wait, WAY_OUTSIDE, of);
		else if (!of->peers || of->peers > WAIT_FOLLOWED || of->unread & WAIT_NO_OTHERS)
			wait_note_way_out(wait, WAY_UNKNOWN, of);
		for (unsigned p = 0; p < of->follows; p++)
			if (!way->is_poll || of->follow[p] != wait->pid)
				way_join(wait, of->follow[p]);
	}
	if (wait->out)
		wait->ways = 0;
}

static int threads_look(struct look *look, struct wait *wait, struct other_end *end,
			struct way_list *ways)
{
	struct thread_view *threads = memory_calloc(MAX_THREADS, sizeof(*threads));
	size_t nr = threads ? threads_read(wait, threads) : 0;
	int err = threads ? 0 : -ENOMEM;

	if (nr) {
		const struct thread_view *chosen = thread_choose(wait, threads, nr);

		look_at_thread(look, wait, end, chosen);
		if (ways)
			err = ways_look(look, wait, ways, threads, nr, chosen);
	}
	free(threads);
	return err;
}

int look_at(struct look *look, struct wait *wait, struct other_end *end, struct way_list *ways)
{
	uint64_t asked = wait->start_epoch_ns;
	struct task_stat stat;
	int err = task_stat_read(wait->pid, 0, &stat);

	wait->fd = -1;
	wait->kind = WAIT_ENDED;
	if (err) {
		if (!kill(wait->pid, 0) || errno == EPERM)
			wait->kind = WAIT_HIDDEN;
		return 0;
	}
	if (!start_is(asked, ticks_to_epoch(stat.start_ticks)))
		return 0;
	wait->start_epoch_ns = ticks_to_epoch(stat.start_ticks);
	memcpy(wait->comm, stat.comm, sizeof(wait->comm));
	wait->threads = stat.threads;
	wait->parent = stat.parent;
	return threads_look(look, wait, end, ways);
}
