// SPDX-License-Identifier: BSD-2-Clause
#include "agent/notices.h"

#include "agent/agent.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "base/text.h"
#include "measure/capability.h"
#include "run/metric.h"
#include "version.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTICE_BYTES 1024
#define TICK_NS (10 * NSEC_PER_MSEC) /* resolution of start times in /proc */

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
	unseen_compare(&a->notices.unseen, &a->books);
	if (!a->notices.unseen.nr)
		return;
	books_drain(&a->books, true); /* the previous drain may have missed an entry */
	unseen_compare(&a->notices.unseen, &a->books);
}

/*
 * Notices. Each function writes a sentence without a full stop and returns how often it applies; 0:
 * not at all. Only with @names does it name processes and cgroups, which may be those of other
 * users.
 */

static uint64_t namespace_notice(const struct agent *a, bool names, char *out, size_t size)
{
	(void)names;
	if (!tracker_is_in_a_pid_namespace(&a->books.tracker))
		return 0;
	snprintf(out, size,
		 "the agent runs in its own PID namespace and sees only the processes in it; start "
		 "it in the PID namespace of the host (docker run --pid=host, hostPID: true)");
	return 1;
}

static uint64_t unseen_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const struct unseen *u = &a->notices.unseen;
	char such[sizeof(u->comm) + 32] = "";

	if (names)
		snprintf(such, sizeof(such), ", such as %d %.*s", u->pids[0], (int)sizeof(u->comm),
			 u->comm);
	text_disarm(such);
	snprintf(out, size,
		 "the kernel hides %zu%s of the processes in /proc from BPF programs%s; they are "
		 "missing in the jobs and in the node",
		 u->nr, u->nr == UNSEEN_KEPT ? " or more" : "", such);
	return u->nr > 0;
}

static uint64_t handles_notice(const struct agent *a, bool names, char *out, size_t size)
{
	(void)names;
	snprintf(out, size,
		 "open_by_handle_at() fails: %s; cgroups whose creation was missed are in the job "
		 "'other', and jobs whose removal was missed do not end; allow the call in the "
		 "seccomp profile, with CAP_DAC_READ_SEARCH",
		 strerror(-a->notices.handles_err));
	return a->notices.handles_err != 0;
}

static uint64_t hierarchy_notice(const struct agent *a, bool names, char *out, size_t size)
{
	(void)names;
	snprintf(
		out, size,
		"cgroups of version 2 are in use besides the hierarchy '%s' of version 1, which "
		"hierarchy = auto follows; services without MemoryAccounting= may lack a cgroup in "
		"it: see 'hierarchy' in the configuration",
		a->node.hierarchy);
	return a->notices.is_hybrid;
}

static uint64_t memory_notice(const struct agent *a, bool names, char *out, size_t size)
{
	(void)names;
	snprintf(out, size,
		 "the cgroup hierarchy '%s' of the jobs has no memory controller: jobs have no "
		 "memory limit and no memory_needed_bytes; see 'hierarchy' in the configuration",
		 a->node.hierarchy);
	return !a->notices.has_memory;
}

static uint64_t block_notice(const struct agent *a, bool names, char *out, size_t size)
{
	(void)names;
	snprintf(out, size,
		 "not counting block I/O: the cgroup hierarchy '%s' of the jobs has no io "
		 "controller; see 'hierarchy' in the configuration",
		 a->node.hierarchy);
	return a->notices.lacks_block;
}

static uint64_t delays_notice(const struct agent *a, bool names, char *out, size_t size)
{
	(void)names;
	snprintf(out, size,
		 "waits for disk and memory are not measured: " CAPABILITY_DELAYS_SWITCH
		 "; set it to 1 and restart the agent");
	return !metric_set_has_source(&a->books.tracker.usable, SOURCE_DELAY);
}

static uint64_t programs_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const struct optionals *x = &a->books.tracker.optional;
	size_t nr = 0, n = 0;

	(void)names;
	for (size_t i = 0; i < NR_OPTIONALS && n < size; i++) {
		if (!*x->missing[i])
			continue;
		n += (size_t)snprintf(out + n, size - n, "%s%s (%s)",
				      nr++ ? ", " : "not measured on this machine: ",
				      optional_row(i)->title, x->missing[i]);
	}
	return nr;
}

/* Root alone is an administrator then, which is safe. */
static uint64_t admins_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const struct config_group *admins = &a->config.admin_group;

	(void)names;
	snprintf(out, size,
		 "there is no group '%s', which admin_group names: only root sees the jobs of all "
		 "users; to make it: groupadd --system %s, then reload the agent",
		 admins->name, admins->name);
	return *admins->name && admins->gid == CONFIG_NO_GROUP;
}

/* Returns false if no cgroup where jobs are expected lacks a rule. */
static uint64_t gaps_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const struct cgroups *c = &a->node.cgroups;
	const struct known_cgroup *first = NULL;
	char such[NOTICE_BYTES] = "", path[512];
	size_t nr = 0, length = 0;

	for (size_t i = 0; i < c->nr; i++) {
		if (!c->all[i]->gap)
			continue;
		nr++;
		if (!first)
			first = c->all[i];
	}
	if (first && names) {
		snprintf(path, sizeof(path), "%s", first->path);
		text_disarm(path);
		for (unsigned i = 0; i < first->gap; i++)
			length += 1 + strcspn(path + length + 1, "/");
		snprintf(such, sizeof(such), ", such as '%s' below '%.*s'", path, (int)length,
			 path);
	}
	snprintf(out, size,
		 "no rule matches %zu cgroup%s where jobs are expected%s; add a [rule] to the "
		 "configuration to make them jobs",
		 nr, nr == 1 ? "" : "s", such);
	return nr > 0;
}

static uint64_t history_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const char *why = a->notices.no_history;

	(void)names;
	if (!why && *a->archive.trouble)
		why = a->archive.trouble;
	snprintf(out, size, "jobs are not saved in the history: %s", why ? why : "");
	return why != NULL;
}

static uint64_t unsaved_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const uint64_t lines = a->archive.listener.feed.dropped;

	(void)names;
	snprintf(out, size,
		 "%" PRIu64 " ended jobs and %" PRIu64 " lines are missing in the history since "
		 "the start",
		 a->archive.lost, lines);
	return a->archive.lost + lines;
}

static uint64_t losses_notice(const struct agent *a, bool names, char *out, size_t size)
{
	const struct tracking *t = tracker_tracking(&a->books.tracker);
	uint64_t sum = 0;
	size_t n;

	(void)names;
	n = (size_t)snprintf(out, size, "data was lost since the start, and jobs are incomplete:");
	for (int i = 0; i < NR_LOSSES && n < size; i++) {
		if (t->loss[i])
			n += (size_t)snprintf(out + n, size - n, "%s %s %" PRIu64, sum ? "," : "",
					      loss_name(i), (uint64_t)t->loss[i]);
		sum += t->loss[i];
	}
	return sum;
}

enum notice_kind {
	NOTICE_LIMIT,   /* something is not measured */
	NOTICE_TROUBLE, /* data is being lost; the process that does has logged it */
	NOTICE_LOSS,    /* data was lost */
};

static const struct notice_row {
	uint64_t (*write)(const struct agent *a, bool names, char *out, size_t size);
	enum notice_kind kind;
} rows[] = {
	{ namespace_notice, NOTICE_LIMIT }, { unseen_notice, NOTICE_LIMIT },
	{ handles_notice, NOTICE_LIMIT },   { hierarchy_notice, NOTICE_LIMIT },
	{ memory_notice, NOTICE_LIMIT },    { block_notice, NOTICE_LIMIT },
	{ delays_notice, NOTICE_LIMIT },    { programs_notice, NOTICE_LIMIT },
	{ admins_notice, NOTICE_LIMIT },    { gaps_notice, NOTICE_LIMIT },
	{ history_notice, NOTICE_TROUBLE }, { unsaved_notice, NOTICE_LOSS },
	{ losses_notice, NOTICE_LOSS },
};

#define NR_ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(NR_ROWS <= MOST_NOTICES, "a state for each row");

#define LOG_PAUSE_NS (600 * NSEC_PER_SEC)    /* between two lines of a notice */
#define LOSS_RECENT_NS (3600 * NSEC_PER_SEC) /* how long a loss makes the agent degraded */

static void notice_log(struct notice_state *s, const char *text, uint64_t now_ns)
{
	if (s->amount <= s->logged || (s->logged_ns && now_ns - s->logged_ns < LOG_PAUSE_NS))
		return;
	s->logged = s->amount;
	s->logged_ns = now_ns;
	log_warn("%s", text);
}

void notices_update(struct agent *a)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), amount;
	char text[NOTICE_BYTES];

	for (size_t i = 0; i < NR_ROWS && !a->is_private; i++) {
		struct notice_state *s = &a->notices.states[i];

		amount = rows[i].write(a, true, text, sizeof(text));
		if (amount > s->amount)
			s->risen_ns = now_ns;
		if (!amount)
			s->logged = 0;
		s->amount = amount;
		if (rows[i].kind != NOTICE_TROUBLE)
			notice_log(s, text, now_ns);
	}
}

/* Returns whether data is being lost, or was within the last hour. */
static bool notices_are_grave(const struct agent *a)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	for (size_t i = 0; i < NR_ROWS; i++) {
		const struct notice_state *s = &a->notices.states[i];

		if (s->amount &&
		    (rows[i].kind == NOTICE_TROUBLE ||
		     (rows[i].kind == NOTICE_LOSS && now_ns - s->risen_ns < LOSS_RECENT_NS)))
			return true;
	}
	return false;
}

/* Appends the array "notices", if there are any, and whether the agent is degraded. */
static void notices_write(const struct agent *a, bool names, struct jsonw *j)
{
	char text[NOTICE_BYTES];
	size_t nr = 0;

	for (size_t i = 0; i < NR_ROWS && !a->is_private; i++) {
		if (!rows[i].write(a, names, text, sizeof(text)))
			continue;
		if (!nr++)
			jsonw_array(j, "notices");
		jsonw_string(j, NULL, text);
	}
	if (nr)
		jsonw_array_end(j);
	jsonw_bool(j, "degraded", notices_are_grave(a));
}

/* What is determined once, with the final rights of the agent. */

static bool hierarchy_has_memory_controller(const struct cgroup_target *root)
{
	char path[sizeof(root->cg.path) + 32], line[512];
	FILE *f;
	bool has;

	if (!root->cg.is_v2)
		return !strcmp(root->controller, "memory");
	snprintf(path, sizeof(path), "%s/cgroup.controllers", root->cg.path);
	f = memory_fopen(path, "re");
	has = f && fgets(line, sizeof(line), f) && list_has_word(line, "memory", " \n");
	if (f)
		fclose(f);
	return has;
}

/* Returns whether a unified hierarchy with cgroups is mounted. */
static bool unified_is_in_use(void)
{
	FILE *f = cgroup_mounts_open("/proc/self");
	bool is_used = false;
	struct cgroup_mount m;
	struct stat st;

	while (f && !is_used && cgroup_mount_next(f, &m))
		is_used = m.is_v2 && !stat(m.point, &st) && st.st_nlink > 2; /* has folders */
	if (f)
		fclose(f);
	return is_used;
}

static void notices_open(struct agent *a)
{
	struct notices *n = &a->notices;

	n->start_epoch_ns = clock_ns(CLOCK_REALTIME);
	n->handles_err = cgroups_try_handles(&a->node.cgroups);
	n->has_memory = hierarchy_has_memory_controller(&a->root);
	n->is_hybrid =
		!strcmp(a->config.hierarchy, "auto") && !a->root.cg.is_v2 && unified_is_in_use();
}

void notices_log_start(struct agent *a)
{
	if (a->is_private) {
		log_info("the agent listens on its owner");
		return;
	}
	notices_open(a);
	log_note("the agent listens on %s: version %s, hierarchy %s, adopted processes: %zu, jobs: "
		 "%zu, continued runs: %zu, continued jobs: %zu, configuration files: %zu, own "
		 "rules: %zu, history: %s",
		 a->config.socket, BPFMON_VERSION, a->node.hierarchy, a->books.rows.nr,
		 a->node.nr_jobs, a->handover.runs, a->handover.node.continued, a->config.nr_files,
		 a->config.nr_rules, a->archive.stream.fd >= 0 ? a->config.store : "none");
	notices_update(a);
}

static size_t runs_count(const struct agent *a)
{
	size_t nr = 0;

	for (const struct peer *p = a->peers; p; p = p->next)
		nr += p->state == PEER_RUNS;
	return nr;
}

void notices_log_stop(const struct agent *a)
{
	if (!a->is_private)
		log_note("the agent is stopping; runs %s: %zu",
			 a->handover.is_on ? "left to the next agent" : "that end as incomplete",
			 runs_count(a));
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
	value[AGENT_runs] = runs_count(a);
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

	notices_update(a);
	if (!l && !a->stream.first)
		return;
	agent_values_collect(a, value);
	jsonw_object(&j, NULL);
	jsonw_string(&j, "kind", "agent");
	jsonw_string(&j, "run", "agent");
	jsonw_string(&j, "version", BPFMON_VERSION);
	jsonw_decimal(&j, "time", clock_ns(CLOCK_REALTIME) / 1000, 6);
	jsonw_decimal(&j, "start_time", a->notices.start_epoch_ns / 1000, 6);
	jsonw_string(&j, "hierarchy", a->node.hierarchy);
	jsonw_decimal(&j, "interval_seconds", a->config.interval_ns, 9);
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct agent_metric *m = agent_metric_get(i);

		if (value[i] || i != AGENT_rss_bytes)
			jsonw_decimal(&j, m->key, value[i], metric_unit_decimals(m->unit));
	}
	losses_write(&j, tracker_tracking(&a->books.tracker));
	notices_write(a, !l || l->sees_all, &j);
	archive_report(&a->archive, &j);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	if (!j.failed)
		stream_put_own(&a->stream, &j, l);
	jsonw_done(&j);
}
