// SPDX-License-Identifier: BSD-2-Clause
#include "measure/needed_watch.h"

#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "measure/job.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#define CONTROLLER "memory"

void run_cgroup_init(struct run_cgroup *g)
{
	cgroup_stat_init(&g->stat);
	g->target.cg.path[0] = '\0';
}

static int pids_order(const void *a, const void *b)
{
	const pid_t p = *(const pid_t *)a, q = *(const pid_t *)b;

	return (p > q) - (p < q);
}

/* The launcher, its descendants, and its ancestors, which wait for it. */
static bool is_around_launcher(const struct run_cgroup *g, pid_t pid)
{
	return g->launcher && (process_descends_from(pid, g->launcher) || pid == 1 ||
			       process_descends_from(g->launcher, pid));
}

/* Returns true if the cgroup holds only @pids (sorted) and the launcher's relatives. */
static bool holds_only(const struct run_cgroup *g, const pid_t *pids, size_t nr)
{
	char path[sizeof(g->target.cg.path) + 16];
	__cleanup(fclosep) FILE *f = NULL;
	struct stat st;
	pid_t pid;

	/* cgroups below it may hold other processes */
	if (stat(g->target.cg.path, &st) || st.st_nlink > 2)
		return false;
	snprintf(path, sizeof(path), "%s/cgroup.procs", g->target.cg.path);
	f = memory_fopen(path, "re");
	while (f && fscanf(f, "%d", &pid) == 1)
		if (!bsearch(&pid, pids, nr, sizeof(*pids), pids_order) &&
		    !is_around_launcher(g, pid))
			return false;
	return f;
}

static bool holds_only_rows(const struct run_cgroup *g, const struct row_list *rows)
{
	__cleanup(freep) pid_t *pids = memory_calloc(rows->nr + 1, sizeof(*pids));

	if (!pids)
		return false;
	for (size_t i = 0; i < rows->nr; i++)
		pids[i] = (pid_t)rows->all[i]->pid;
	qsort(pids, rows->nr, sizeof(*pids), pids_order);
	return holds_only(g, pids, rows->nr);
}

/* Reads the memory that the kernel cannot drop. */
static bool undroppable_read(struct run_cgroup *g, uint64_t *bytes)
{
	struct metric_set wanted = { 0 };
	struct sample smp = { 0 };
	uint64_t kept;

	metric_put(&wanted, M_cgroup_anon);
	metric_put(&wanted, M_cgroup_shmem);
	metric_put(&wanted, M_cgroup_kernel);
	metric_put(&wanted, M_cgroup_reclaimable);
	cgroup_stat_read(&g->stat, &wanted, &smp);
	kept = smp.value[M_cgroup_kernel] > smp.value[M_cgroup_reclaimable]
		       ? smp.value[M_cgroup_kernel] - smp.value[M_cgroup_reclaimable]
		       : 0;
	*bytes = smp.value[M_cgroup_anon] + smp.value[M_cgroup_shmem] + kept;
	return sample_has(&smp, M_cgroup_anon) && sample_has(&smp, M_cgroup_shmem);
}

static int memory_cgroup_find(pid_t pid, struct cgroup_target *t)
{
	char proc[32], path[4096], folder[4096], why[256];
	size_t mount;
	bool is_v2;
	int id, err;

	snprintf(proc, sizeof(proc), "/proc/%d", pid);
	err = cgroup_of_process(proc, CONTROLLER, path, &is_v2, &id);
	if (!err)
		err = cgroup_find_folder("/proc/self", is_v2 ? NULL : CONTROLLER, path, folder,
					 &mount);
	return err ? err : cgroup_target_find("/proc/self", folder, t, why, sizeof(why));
}

/*
 * Opens @own, which holds only the run. If NULL, opens the cgroup of @pid if that holds only the
 * run. With @is_command, the parent of @pid is the launcher.
 */
static void run_cgroup_open(struct run_cgroup *g, const struct cgroup_target *own, pid_t pid,
			    bool is_command)
{
	struct proc_stat s;

	if (own) {
		g->target = *own;
	} else if (memory_cgroup_find(pid, &g->target)) {
		g->target.cg.path[0] = '\0';
		return;
	}
	g->may_have_others = !own;
	if (is_command && !own && !proc_stat_read(pid, &s))
		g->launcher = s.parent;
	if (!own && !holds_only(g, &pid, 1)) {
		g->target.cg.path[0] = '\0';
		return;
	}
	cgroup_stat_open_memory(&g->stat, &g->target);
	if (own)
		return;
	if (!cgroup_stat_peak(&g->stat, &g->base_most_bytes))
		g->base_most_bytes = 0;
	if (is_command && !undroppable_read(g, &g->base_bytes))
		g->base_bytes = 0;
}

/*
 * Reads the undroppable memory of the run, whose processes are @rows, in bytes. Returns false if
 * there is no such cgroup or it holds something else.
 */
static bool run_cgroup_read(struct run_cgroup *g, const struct row_list *rows, uint64_t *bytes)
{
	if (!*g->target.cg.path || !undroppable_read(g, bytes))
		return false;
	*bytes -= *bytes < g->base_bytes ? *bytes : g->base_bytes;
	if (!g->may_have_others || *bytes <= g->checked_bytes)
		return true;
	if (!holds_only_rows(g, rows))
		return false;
	g->checked_bytes = *bytes;
	return true;
}

/*
 * Reads the upper bound by the kernel's high-water mark. Returns false if it is unknown or was
 * reached before the run.
 */
static bool run_cgroup_most(const struct run_cgroup *g, uint64_t *bytes)
{
	if (!*g->target.cg.path || !cgroup_stat_peak(&g->stat, bytes) ||
	    *bytes <= g->base_most_bytes)
		return false;
	*bytes -= *bytes < g->base_bytes ? *bytes : g->base_bytes;
	return true;
}

bool cgroup_read_needed(const struct cgroup *cg, uint64_t known_bytes, uint64_t *bytes,
			uint64_t *most_bytes)
{
	struct run_cgroup g = { .target.cg = *cg };
	uint64_t all = 0;
	bool is_known;

	cgroup_stat_init(&g.stat);
	snprintf(g.target.controller, sizeof(g.target.controller), "%s",
		 cg->is_v2 ? "" : CONTROLLER);
	*bytes = 0;
	is_known = cgroup_stat_watch(&g.stat, &g.target) && cgroup_stat_usage(&g.stat, &all);
	if (is_known)
		cgroup_stat_open_memory(&g.stat, &g.target);
	if (all > known_bytes)
		is_known = undroppable_read(&g, bytes);
	if (!cgroup_stat_peak(&g.stat, most_bytes))
		*most_bytes = 0;
	cgroup_stat_done(&g.stat);
	return is_known;
}

void run_cgroup_done(struct run_cgroup *g)
{
	cgroup_stat_done(&g->stat);
}

#define FRESH_NS NSEC_PER_SEC
#define LEAST_BYTES (16ULL << 20) /* below that, sharing does not matter */

static uint64_t machine_shared(void)
{
	struct sysinfo now;

	return sysinfo(&now) ? 0 : (uint64_t)now.sharedram * now.mem_unit;
}

void needed_watch_open(struct job *job, const struct cgroup_target *own)
{
	const struct job_spec *spec = job->spec;
	const pid_t pid = spec->command ? spec->command : spec->nr_targets ? spec->targets[0] : 0;

	job->needed.machine_shared_bytes = machine_shared();
	if (own || pid)
		run_cgroup_open(&job->needed.cgroup, own, pid, spec->command);
}

/*
 * Returns true if PSS may exceed what was read so far: RSS has grown, or shared pages were copied.
 */
static bool reading_is_wanted(const struct job *job, uint64_t rss, uint64_t faults)
{
	const struct needed_watch *w = &job->needed;
	const struct needed_seen *seen = &job->view.tally.summary.seen;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);

	if (rss < LEAST_BYTES || (seen->has_pss && rss <= seen->pss_bytes))
		return false;
	return !w->has_read || rss > w->read_rss_bytes + w->read_rss_bytes / 10 ||
	       (faults - w->read_faults) * page > seen->pss_bytes / 10;
}

/*
 * While memory grows fast, a reading is soon outdated: read only if it has doubled since the last.
 */
static bool reading_is_due(const struct needed_watch *w, uint64_t rss, uint64_t faults)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t tenth = w->sample_rss_bytes / 10;

	if (w->has_read && rss / 2 > w->read_rss_bytes)
		return true;
	return rss <= w->sample_rss_bytes + tenth && (faults - w->sample_faults) * page <= tenth;
}

/* Returns true if one process holds nearly all of it, so that nothing is shared. */
static bool rows_have_one_owner(const struct job *job, uint64_t rss)
{
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	uint64_t largest = 0;

	for (size_t i = 0; i < job->view.tally.rows.nr; i++) {
		uint64_t bytes = row_resident_pages(job->view.tally.rows.all[i]) * page;

		if (bytes > largest)
			largest = bytes;
	}
	return largest >= rss - rss / 10;
}

static void reading_skip(struct job *job, uint64_t rss)
{
	if (rss > job->view.tally.summary.seen.unread_rss_bytes)
		job->view.tally.summary.seen.unread_rss_bytes = rss;
}

/* Returns false if PSS cannot be read, or not within the budget and not @is_urgent. */
static bool reading_begin_all(struct job *job, bool is_urgent)
{
	struct needed_watch *w = &job->needed;

	if (w->is_reading || !job_read_all_pss(job, is_urgent))
		return w->is_reading;
	w->is_reading = true;
	w->rss_bytes = job->view.smp.value[M_rss];
	w->elapsed_ns = job->view.smp.elapsed_ns;
	w->faults = job->view.tally.totals.minflt;
	w->births = processes_born(&job->view.tally.totals);
	return true;
}

static void pss_read_if_due(struct job *job)
{
	const struct sample *smp = &job->view.smp;
	struct needed_watch *w = &job->needed;
	const uint64_t rss = smp->value[M_rss], faults = job->view.tally.totals.minflt;
	bool is_due;

	/* with --pss each sample has it */
	if (job->spec->pss_ppm || !job->pss_reader || !sample_has(smp, M_rss))
		return;
	is_due = reading_is_due(w, rss, faults);
	w->sample_rss_bytes = rss;
	w->sample_faults = faults;
	if (!reading_is_wanted(job, rss, faults) || rows_have_one_owner(job, rss))
		return;
	if (!is_due || !reading_begin_all(job, false))
		reading_skip(job, rss);
}

/*
 * Bounds the run's unmapped files in memory: the machine's growth, and what the run has written or
 * mapped.
 */
static void files_note(struct job *job)
{
	const struct sample *smp = &job->view.smp;
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), now = machine_shared();
	const enum metric_id calls = sample_has(smp, M_wchar_files) ? M_wchar_files : M_wchar;
	struct needed_seen *seen = &job->view.tally.summary.seen;
	struct needed_watch *w = &job->needed;
	uint64_t mapped = 0, by_run, unmapped;

	if (!sample_has(smp, calls) || !w->machine_shared_bytes)
		return;
	for (size_t i = 0; i < job->view.tally.rows.nr; i++)
		if (job->view.tally.rows.all[i]->pages[RSS_SHMEM] * page > mapped)
			mapped = job->view.tally.rows.all[i]->pages[RSS_SHMEM] * page;
	if (sample_has(smp, M_rss_shmem) && smp->value[M_rss_shmem] > w->mapped_bytes)
		w->mapped_bytes = smp->value[M_rss_shmem];
	if (now < w->machine_shared_bytes)
		w->machine_shared_bytes = now;
	unmapped = now - w->machine_shared_bytes;
	unmapped -= unmapped < mapped ? unmapped : mapped;
	by_run = smp->value[calls] + w->mapped_bytes;
	if (unmapped > by_run)
		unmapped = by_run;
	if (unmapped > seen->unmapped_bytes)
		seen->unmapped_bytes = unmapped;
}

static void figure_set(struct needed_watch *w, uint64_t bytes, uint64_t rss, bool is_least)
{
	w->now_bytes = bytes;
	w->now_rss_bytes = rss;
	w->now_is_least = is_least;
	w->now_ns = clock_ns(CLOCK_MONOTONIC);
}

bool needed_watch_read_cgroup(struct job *job)
{
	uint64_t bytes;

	if (!run_cgroup_read(&job->needed.cgroup, &job->view.tally.rows, &bytes))
		return false;
	figure_set(&job->needed, bytes, job->view.smp.value[M_rss], false);
	return true;
}

void needed_watch_sample(struct job *job)
{
	struct needed_seen *seen = &job->view.tally.summary.seen;

	if (needed_watch_read_cgroup(job)) {
		needed_record_cgroup(seen, job->needed.now_bytes, job->view.smp.elapsed_ns);
	} else {
		if (!seen->has_cgroup) /* a cgroup would have included them */
			files_note(job);
		pss_read_if_due(job);
	}
}

bool needed_watch_now(const struct job *job, uint64_t *bytes, uint64_t *most)
{
	const struct needed_watch *w = &job->needed;
	const uint64_t now_ns = clock_ns(CLOCK_MONOTONIC), rss = job->view.smp.value[M_rss];

	*bytes = w->now_bytes;
	*most = w->now_bytes + (rss > w->now_rss_bytes ? rss - w->now_rss_bytes : 0);
	if (w->now_is_least)
		*most = UINT64_MAX;
	return w->now_ns && now_ns - w->now_ns < FRESH_NS;
}

bool needed_watch_request_pss(struct job *job)
{
	const struct needed_watch *w = &job->needed;
	const uint64_t rss = job->view.smp.value[M_rss];
	const bool is_urgent = !w->has_read || rss > w->read_rss_bytes + w->read_rss_bytes / 10;

	if (!job->pss_reader || pss_is_refused(&job->pss))
		return false;
	return reading_begin_all(job, is_urgent) || !is_urgent;
}

/* A process born during the reading takes a share of what was read. */
static bool reading_missed_no_birth(struct job *job)
{
	struct tracker *t = &job->view.books->tracker;
	struct account totals;

	if (tracker_needs_looks(t))
		tracker_look(t);
	totals = job_totals(job);
	return processes_born(&totals) == job->needed.births;
}

void needed_watch_take(struct job *job)
{
	struct needed_watch *w = &job->needed;
	uint64_t pss;
	bool is_whole;

	if (!w->is_reading)
		return;
	w->is_reading = false;
	is_whole = pss_sum_whole(&job->pss, &pss) && reading_missed_no_birth(job);
	if (is_whole) {
		w->has_read = true;
		w->read_rss_bytes = w->rss_bytes;
		w->read_faults = w->faults;
		needed_record_pss(&job->view.tally.summary.seen, pss, w->rss_bytes, w->elapsed_ns);
	} else {
		reading_skip(job, w->rss_bytes);
	}
	if (pss_is_refused(&job->pss))
		return;
	figure_set(w, pss, w->rss_bytes, !is_whole);
	if (job->spec->nr_limits)
		job_was_sampled(job);
}

void needed_watch_finish(struct job *job)
{
	struct needed_seen *seen = &job->view.tally.summary.seen;

	seen->has_cgroup_most = run_cgroup_most(&job->needed.cgroup, &seen->cgroup_most_bytes);
}
