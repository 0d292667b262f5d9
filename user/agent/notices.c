// SPDX-License-Identifier: BSD-2-Clause
#include "agent/notices.h"

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "base/text.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define NOTICE_BYTES 1024
#define TICK_NS (10 * NSEC_PER_MSEC) /* to which /proc knows when a process has begun */

static const char in_namespace[] =
	"the agent is in a PID namespace of its own: the node and its jobs are what is in that "
	"namespace, not the machine; start it in the machine's (docker run --pid=host, hostPID: "
	"true)";

static int compare_pids(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : *(const pid_t *)a > *(const pid_t *)b;
}

/* The PIDs of the last drain, sorted; owned by the caller. NULL: out of memory. */
static pid_t *drained_pids(const struct rows *rows)
{
	pid_t *pids = memory_calloc(rows->nr + 1, sizeof(*pids));

	for (size_t i = 0; pids && i < rows->nr; i++)
		pids[i] = (pid_t)rows->all[i].pid;
	if (pids)
		qsort(pids, rows->nr, sizeof(*pids), compare_pids);
	return pids;
}

/* One that began later may have been born after the drain had passed. */
static bool was_there(pid_t pid, uint64_t drain_boot_ns, struct proc_stat *stat)
{
	return !proc_stat_read(pid, stat) && !strchr("ZXx", stat->state) &&
	       stat->start_ns + 2 * TICK_NS < drain_boot_ns;
}

static void unseen_compare(struct unseen *u, const struct books *b)
{
	__cleanup(closedirp) DIR *proc = memory_opendir("/proc");
	pid_t *pids = drained_pids(&b->rows), pid;
	struct dirent *entry;
	struct proc_stat stat;

	u->nr = 0;
	while (pids && proc && u->nr < UNSEEN_KEPT && (entry = readdir(proc))) {
		pid = atoi(entry->d_name);
		if (pid <= 0 || bsearch(&pid, pids, b->rows.nr, sizeof(*pids), compare_pids) ||
		    !was_there(pid, b->drain_boot_ns, &stat))
			continue;
		if (!u->nr)
			memcpy(u->comm, stat.comm, sizeof(u->comm) - 1);
		u->pids[u->nr++] = pid;
	}
	free(pids);
}

/* Whether all that /proc has could have a row: nothing was lost, and their PIDs are the same. */
static bool may_compare(const struct agent *a)
{
	const struct tracking *now = tracker_tracking(&a->books.tracker);

	for (int i = 0; i < NR_LOSSES; i++)
		if (now->loss[i])
			return false;
	return !a->is_private && !a->books.rows.lost &&
	       !tracker_is_in_a_pid_namespace(&a->books.tracker) && procstat_is_own_namespace();
}

void unseen_find(struct agent *a)
{
	if (!may_compare(a))
		return;
	unseen_compare(&a->unseen, &a->books);
	if (!a->unseen.nr)
		return;
	books_drain(&a->books, true); /* the one before may have missed an entry */
	unseen_compare(&a->unseen, &a->books);
}

static void unseen_text(const struct unseen *u, char *out, size_t size)
{
	char comm[sizeof(u->comm)];

	memcpy(comm, u->comm, sizeof(comm));
	text_disarm(comm);
	snprintf(out, size,
		 "the kernel hides %zu%s of the processes of /proc from BPF programs, as "
		 "%d %s: what they use is in no job, nor in the node",
		 u->nr, u->nr == UNSEEN_KEPT ? " or more" : "", u->pids[0], comm);
}

/* False: there is no cgroup where jobs are expected, and no rule knows one. */
static bool gaps_text(const struct node *n, char *out, size_t size)
{
	const struct known_cgroup *first = NULL;
	size_t nr = 0, length = 0;
	char path[512];

	for (size_t i = 0; i < n->cgroups.nr; i++) {
		const struct known_cgroup *one = n->cgroups.all[i];

		if (!one->gap)
			continue;
		nr++;
		if (!first)
			first = one;
	}
	if (!first)
		return false;
	snprintf(path, sizeof(path), "%s", first->path);
	text_disarm(path);
	for (unsigned i = 0; i < first->gap; i++)
		length += 1 + strcspn(path + length + 1, "/");
	snprintf(out, size,
		 "no rule knows %zu cgroup%s where jobs are expected, as '%s' below '%.*s': the "
		 "processes there are in no job of their own; a [rule] in the configuration makes "
		 "them one",
		 nr, nr == 1 ? "" : "s", path, (int)length, path);
	return true;
}

void notices_write(const struct agent *a, struct jsonw *j)
{
	const bool is_inside = tracker_is_in_a_pid_namespace(&a->books.tracker);
	char gaps[NOTICE_BYTES], text[NOTICE_BYTES];
	const bool has_gaps = gaps_text(&a->node, gaps, sizeof(gaps));

	if (!is_inside && !a->unseen.nr && !has_gaps)
		return;
	jsonw_array(j, "notices");
	if (is_inside)
		jsonw_string(j, NULL, in_namespace);
	if (a->unseen.nr) {
		unseen_text(&a->unseen, text, sizeof(text));
		jsonw_string(j, NULL, text);
	}
	if (has_gaps)
		jsonw_string(j, NULL, gaps);
	jsonw_array_end(j);
}

void notices_log_start(const struct agent *a)
{
	char text[NOTICE_BYTES];

	if (a->is_private)
		return;
	if (tracker_is_in_a_pid_namespace(&a->books.tracker))
		log_warn("%s", in_namespace);
	if (!a->unseen.nr)
		return;
	unseen_text(&a->unseen, text, sizeof(text));
	log_warn("%s", text);
}

void notices_log_gaps(struct agent *a)
{
	char text[NOTICE_BYTES];

	if (a->has_logged_gaps || !gaps_text(&a->node, text, sizeof(text)))
		return;
	a->has_logged_gaps = true;
	log_warn("%s", text);
}
