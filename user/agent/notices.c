// SPDX-License-Identifier: BSD-2-Clause
#include "agent/notices.h"

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "base/text.h"
#include "agent/porter.h"
#include "base/notify.h"
#include "run/metric.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define NOTICE_BYTES 1024
#define TICK_NS (10 * NSEC_PER_MSEC) /* resolution of start times in /proc */

static const char in_namespace[] =
	"the agent runs in its own PID namespace and sees only the processes in it; start it in "
	"the PID namespace of the host (docker run --pid=host, hostPID: true)";

static int compare_pids(const void *a, const void *b)
{
	return *(const pid_t *)a < *(const pid_t *)b ? -1 : *(const pid_t *)a > *(const pid_t *)b;
}

/* Returns the sorted pids of the last drain, which the caller frees; NULL if out of memory. */
static pid_t *drained_pids(const struct rows *rows)
{
	pid_t *pids = memory_calloc(rows->nr + 1, sizeof(*pids));

	for (size_t i = 0; pids && i < rows->nr; i++)
		pids[i] = (pid_t)rows->all[i].pid;
	if (pids)
		qsort(pids, rows->nr, sizeof(*pids), compare_pids);
	return pids;
}

/* A process that started later may have been missed by the drain. */
static bool process_predates_drain(pid_t pid, uint64_t drain_boot_ns, struct proc_stat *stat)
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
		    !process_predates_drain(pid, b->drain_boot_ns, &stat))
			continue;
		if (!u->nr)
			memcpy(u->comm, stat.comm, sizeof(u->comm) - 1);
		u->pids[u->nr++] = pid;
	}
	free(pids);
}

/*
 * Returns whether every process in /proc should have a row: nothing was lost, and the PID
 * namespaces match.
 */
static bool unseen_is_comparable(const struct agent *a)
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
	if (!unseen_is_comparable(a))
		return;
	unseen_compare(&a->unseen, &a->books);
	if (!a->unseen.nr)
		return;
	books_drain(&a->books, true); /* the previous drain may have missed an entry */
	unseen_compare(&a->unseen, &a->books);
}

static void unseen_text(const struct unseen *u, char *out, size_t size)
{
	char comm[sizeof(u->comm)];

	memcpy(comm, u->comm, sizeof(comm));
	text_disarm(comm);
	snprintf(out, size,
		 "the kernel hides %zu%s of the processes in /proc from BPF programs, such as %d "
		 "%s; they are missing in the jobs and in the node",
		 u->nr, u->nr == UNSEEN_KEPT ? " or more" : "", u->pids[0], comm);
}

/* Returns false if no cgroup where jobs are expected lacks a rule. */
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
		 "no rule matches %zu cgroup%s where jobs are expected, such as '%s' below '%.*s'; "
		 "add a [rule] to the configuration to make them jobs",
		 nr, nr == 1 ? "" : "s", path, (int)length, path);
	return true;
}

/* Appends the array "notices" of sentences without a full stop, if there are any. */
static void notices_write(const struct agent *a, struct jsonw *j)
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

/* The line about the agent itself: costs, sizes and losses. */

static void losses_write(struct jsonw *j, const struct tracking *t)
{
	jsonw_object(j, "losses");
	for (int i = 0; i < NR_LOSSES; i++)
		jsonw_uint(j, loss_name(i), t->loss[i]);
	jsonw_object_end(j);
}

static uint64_t lines_dropped(const struct agent *a)
{
	uint64_t sum = a->stream.dropped;

	for (const struct listener *l = a->stream.first; l; l = l->next)
		sum += l->feed.dropped;
	return sum;
}

/* Returns the resident memory in bytes; 0 if it cannot be read. */
static uint64_t own_rss_read(void)
{
	FILE *f = memory_fopen("/proc/self/statm", "re");
	unsigned long pages = 0;

	if (f && fscanf(f, "%*u %lu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void agent_values_collect(const struct agent *a, uint64_t value[NR_AGENT_METRICS])
{
	const struct tracker *t = &a->books.tracker;

	value[AGENT_cpu_seconds] = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
	value[AGENT_rss_bytes] = own_rss_read();
	value[AGENT_map_bytes] = tracker_map_bytes(t);
	value[AGENT_tasks] = TASKS_ALL(tracker_tracking(t)->tasks);
	value[AGENT_max_tasks] = tracker_max_tasks(t);
	value[AGENT_accounts] = t->accounts.nr;
	value[AGENT_max_accounts] = t->accounts.most;
	value[AGENT_cgroups] = a->node.cgroups.nr;
	value[AGENT_jobs] = a->node.nr_jobs;
	value[AGENT_jobs_begun] = a->node.nr_begun;
	value[AGENT_clients] = a->nr_peers;
	value[AGENT_clients_dropped] = a->counts.dropped;
	value[AGENT_refused] = a->counts.refused;
	value[AGENT_lines_dropped] = lines_dropped(a);
	value[AGENT_drains] = t->drains;
	value[AGENT_drain_seconds] = t->drain_ns_total;
	value[AGENT_drain_max_seconds] = t->drain_ns_max;
	value[AGENT_late_ticks] = a->counts.late_ticks;
	value[AGENT_repaired] = tracker_repaired(t);
	value[AGENT_unrepaired] = tracker_unrepaired(t);
}

void agent_report(struct agent *a, struct listener *l)
{
	uint64_t value[NR_AGENT_METRICS];
	struct jsonw j = { 0 };

	if (!l && !a->stream.first)
		return;
	agent_values_collect(a, value);
	jsonw_object(&j, NULL);
	jsonw_string(&j, "kind", "agent");
	jsonw_string(&j, "run", "agent");
	jsonw_string(&j, "version", BPFMON_VERSION);
	jsonw_decimal(&j, "time", clock_ns(CLOCK_REALTIME) / 1000, 6);
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct agent_metric *m = agent_metric_get(i);

		if (value[i] || i != AGENT_rss_bytes)
			jsonw_decimal(&j, m->key, value[i], metric_unit_decimals(m->unit));
	}
	losses_write(&j, tracker_tracking(&a->books.tracker));
	notices_write(a, &j);
	archive_report(&a->archive, &j);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	if (!j.failed)
		stream_put_own(&a->stream, &j, l);
	jsonw_done(&j);
}
