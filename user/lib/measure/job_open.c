// SPDX-License-Identifier: BSD-2-Clause
/*
 * Begin and end of a run. Begin: finds the processes to track and what they run. End: closes the
 * accounts, and writes the remaining lines and the summary.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "measure/job.h"
#include "measure/record.h"
#include "measure/tracker.h"
#include "run/summary.h"
#include "run/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

struct named {
	const struct job_spec *options;
	bool is_found[MAX_TARGETS];
	pid_t impostor; /* PID reused by a process younger than the request, or 0 */
};

static void named_note(void *context, const struct process_record *r)
{
	struct named *n = context;
	const struct job_spec *o = n->options;

	for (size_t i = 0; i < o->nr_targets; i++) {
		if (o->targets[i] != (pid_t)r->pid)
			continue;
		n->is_found[i] = true;
		if (is_earlier(o->named_boot_ns, r->start_boot_ns))
			n->impostor = o->targets[i];
	}
}

/*
 * @has_any: tasks were found. A process that has ended since is then in the ring buffer: no error.
 */
static int missing_explain(pid_t pid, bool has_any, char *why, size_t size)
{
	pid_t parent;
	char state;

	if (procstat_read(pid, &state, &parent)) {
		if (has_any)
			return 0;
		snprintf(why, size, "process %d has just ended", pid);
	} else {
		snprintf(why, size, "process %d exists, but is not visible to BPF programs: %s",
			 pid,
			 procstat_is_own_namespace() ? "the kernel hides it"
						     : "start bpfmon in the PID namespace of /proc "
						       "(unshare --pid needs --fork)");
	}
	return -ESRCH;
}

/*
 * Checks, after seeding, that the processes that the user has named are tracked. Returns -ESRCH
 * with @why if one was not found or its PID was reused. If others were found, one that has ended
 * since is no error.
 */
static int named_check(struct tracker *t, const struct job_spec *o, char *why, size_t size)
{
	struct named n = { .options = o };
	int err = 0;

	tracker_each_process(t, named_note, &n);
	if (n.impostor) {
		snprintf(why, size, "process %d has ended, and another process has its PID now",
			 n.impostor);
		return -ESRCH;
	}
	for (size_t i = 0; !err && i < o->nr_targets; i++)
		if (!n.is_found[i])
			err = missing_explain(o->targets[i], tracker_has_found(t), why, size);
	return err;
}

/*
 * Reads what the bpfmon process @pid has cost so far. rss_bytes is 0 if /proc is of another PID
 * namespace.
 */
static void selfcost_read(pid_t pid, struct role_cost *cost)
{
	char path[64], line[128];
	__cleanup(fclosep) FILE *status = NULL;
	clockid_t cpu; /* includes ended threads */

	*cost = (struct role_cost){ 0 };
	if (!clock_getcpuclockid(pid, &cpu))
		cost->cpu_ns = clock_ns(cpu);
	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	status = memory_fopen(path, "re");
	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %" SCNu64, &cost->rss_bytes) == 1)
			cost->rss_bytes *= 1024;
}

static void pss_skipped(void *context, pid_t pid, const char *reason)
{
	struct job *job = context;

	if (!job->spec->pss_ppm)
		return;
	write_process_event(&job->view.json, job->view.run,
			    job->view.books->drained_ns - job->view.start_ns, "pss_skipped", pid,
			    reason);
	feeds_put(&job->view.feeds, &job->view.json);
}

static void job_open_files(struct job *job)
{
	const struct cgroup_target *target = job->spec->tracker.cgroup;
	char why[256];

	if (!target && job->spec->cgroup &&
	    !cgroup_target_find("/proc/self", job->spec->cgroup->path, &job->own_cgroup, why,
				sizeof(why)))
		target = &job->own_cgroup;
	cgroup_stat_open(&job->cgroup, target, job->view.run);
	needed_watch_open(job, target);
	job_open_block_io(job, target);
	if (metric_set_has_source(&job->view.run->usable, SOURCE_HOST))
		pressure_open(&job->host_pressure, HOST_MEMORY_PRESSURE);
}

static void job_note_missing(struct job *job)
{
	const struct optionals *o = &job->view.books->tracker.optional;

	if (o->missing[OPTIONAL_EXACT_PEAK][0]) {
		job->view.run->no_exact_peak = o->missing[OPTIONAL_EXACT_PEAK];
		log_warn("--exact-peak has no effect: %s", job->view.run->no_exact_peak);
	}
}

static int job_follow_processes(struct job *job, char *why, size_t size)
{
	const struct job_spec *o = job->spec;
	int err = tracker_seed(&job->view.books->tracker, o->targets, o->nr_targets);

	return err ? err : named_check(&job->view.books->tracker, o, why, size);
}

static int job_follow(struct job *job, char *why, size_t size)
{
	const struct job_spec *o = job->spec;

	if (job->view.books->whole_node)
		return job_join(job, why, size);
	if (o->command)
		return tracker_follow(&job->view.books->tracker, o->command);
	if (!o->tracker.cgroup)
		return job_follow_processes(job, why, size);
	job->target.id = o->tracker.cgroup->id;
	if (tracker_is_in_a_pid_namespace(&job->view.books->tracker))
		log_warn("processes that are already in the cgroup but outside bpfmon's PID "
			 "namespace are not measured: they are not visible");
	return target_seed(job);
}

void job_init(struct job *job)
{
	memset(job, 0, sizeof(*job));
	tally_view_init(&job->view);
	job->host_pressure.fd = -1;
	cgroup_stat_init(&job->cgroup);
	run_cgroup_init(&job->needed.cgroup);
	pushed_init(&job->pushed);
}

static void job_describe(struct job *job, const struct job_spec *spec, struct books *books)
{
	job->spec = spec;
	tally_view_open(&job->view, spec->run, books);
	job->view.is_idle = spec->is_idle;
	job->view.stall.after_ns = spec->stalled_after_ns;
	job->view.stall.below_ppm = spec->stalled_below_ppm;
	job->view.shown_to = spec->shown_to;
	job->view.hides_others = spec->hides_others;
	spans_init(&job->spans, &job->view, job);
	job->view.tally.summary.is_attached = job->view.run->is_attached = !spec->command;
	job->view.tally.summary.by_cgroup = spec->tracker.cgroup;
	job_init_pss(job);
	job->pss.skipped = pss_skipped;
	job->pss.context = job;
}

int job_open(struct job *job, const struct job_spec *spec, struct books *books, char *why,
	     size_t size)
{
	int err;

	job_describe(job, spec, books);
	job_note_missing(job);
	*why = '\0'; /* may contain the reason for a refused optional program */
	err = job_follow(job, why, size);
	if (err && spec->command)
		snprintf(why, size, "cannot track the command's process %d: %s", spec->command,
			 strerror(-err));
	else if (err && !*why)
		snprintf(why, size, "cannot track the running processes: %s", strerror(-err));
	tally_view_choose_metrics(&job->view);
	job_open_files(job); /* now: their present values are the baseline */
	limit_watch_open(job);
	if (!err && !books->whole_node)
		books_name_seeded(books);
	return err;
}

void job_reopen(struct job *job, const struct job_spec *spec, struct books *books)
{
	job_describe(job, spec, books);
	tally_view_choose_metrics(&job->view);
	job_open_files(job);
	limit_watch_open(job);
	job->state = JOB_RUNS;
}

static void job_put_baseline(struct job *job)
{
	struct sample smp = { 0 };

	tally_put_totals(&job->view.tally, &smp, &job->baseline);
	memcpy(job->view.run->baseline, smp.value, sizeof(job->view.run->baseline));
	job->view.run->baseline_have = smp.have;
	job->view.run->seeded_tasks = job->baseline.threads;
}

/*
 * Describes an attachment. Returns the time at which it begins: when all its processes were found.
 */
static uint64_t attachment_begin(struct job *job)
{
	const struct cgroup_target *target = job->spec->tracker.cgroup;
	struct tracker *tracker = &job->view.books->tracker;
	struct run *run = job->view.run;

	run->targets = job->spec->targets;
	run->nr_targets = job->spec->nr_targets;
	if (target) {
		run->cgroup = target->cg.path;
		run->hierarchy = target->cg.is_v2 ? "unified" : target->controller;
	}
	job->seeded_roots = job_totals(job).roots;
	if (job->view.books->whole_node) {
		job_put_baseline(job);
		return clock_ns(CLOCK_MONOTONIC);
	}
	run->seed_ns = tracker->seed_ns;
	run->seeded_tasks = tracker_tracking(tracker)->seeded;
	tracker_baseline(tracker, run->baseline, &run->baseline_have);
	/* with wait_start it begins with the first process of the cgroup */
	return job->spec->wait_start ? clock_ns(CLOCK_MONOTONIC) : tracker->seeded_ns;
}

static void job_write_begin(struct job *job, uint64_t start_ns)
{
	job->state = JOB_RUNS;
	pressure_restart(&job->host_pressure);
	tally_view_begin(&job->view, start_ns);
	job_report_early(job);
}

void job_start(struct job *job, uint64_t start_ns)
{
	if (!job->spec->command)
		start_ns = attachment_begin(job);
	job_write_begin(job, start_ns);
	job_sample(job);
}

void job_done(struct job *job)
{
	exact_peak_done(&job->exact);
	pss_reader_leave(job->pss_reader);
	pss_done(&job->pss);
	run_cgroup_done(&job->needed.cgroup);
	jsonw_done(&job->held.heaviest);
	cgroup_stat_done(&job->cgroup);
	pressure_done(&job->host_pressure);
	pushed_done(&job->pushed);
	heaviest_done(&job->heaviest);
	wait_times_done(&job->waits);
	spans_done(&job->spans);
	tally_view_done(&job->view);
	free(job->early);
	free(job->left);
}

static void left_keep(void *context, const struct process_record *r)
{
	struct job *job = context;
	struct process_record *left = job->left;
	size_t room = job->room_left ? job->room_left * 2 : 64;

	if (job->nr_left == job->room_left) {
		left = memory_reallocarray(left, room, sizeof(*left));
		if (!left) {
			job->view.tally.forgone++;
			return;
		}
		job->left = left;
		job->room_left = room;
	}
	left[job->nr_left++] = *r;
}

/* Closes the accounts. Later usage of the processes is in no job. */
static void accounts_close(struct job *job)
{
	const struct accounts *a = &job->view.books->tracker.accounts;
	struct account_key *keys = memory_calloc(a->nr + 1, sizeof(*keys));
	size_t n = 0;

	if (!keys) {
		job->view.tally.forgone++;
		return;
	}
	for (size_t i = 0; i < a->nr; i++)
		if (books_owner(job->view.books, &a->keys[i]) == job)
			keys[n++] = a->keys[i];
	while (n--) {
		const struct account_key in_node = { job->heir, keys[n].cgroup };

		if (books_retire(job->view.books, &keys[n],
				 job->view.books->whole_node ? &in_node : &account_of_none,
				 left_keep, job))
			job->view.tally.forgone++;
	}
	free(keys);
}

void job_abandon(struct job *job)
{
	tracker_read_accounts(&job->view.books->tracker);
	accounts_close(job);
	job_leave_books(job);
}

void job_close(struct job *job)
{
	struct tracker *tracker = &job->view.books->tracker;

	pushed_stop(&job->pushed, job_samples_made(job)); /* what arrives now is after the end */
	job->state = JOB_LEAVES;
	books_drain(job->view.books, true);
	job_look_waits(job); /* the records of live processes end below */
	limit_watch_leave(job);
	if (!job->view.books->whole_node)
		job->view.tally.summary.map_bytes = tracker_map_bytes(tracker);
	if (!job->view.books->whole_node)
		tracker_settle_births(tracker);
	/* tasks found after the accounts are closed are lost for this job */
	job->unrepaired = growth_since(tracker_unrepaired(tracker), job->view.base.unrepaired);
	job->repaired = growth_since(tracker_repaired(tracker), job->view.base.repaired);
	if (job->spec->tracker.exact_peak)
		tracker_freeze_peak(tracker);
	books_report_leavers(job->view.books, job);
	accounts_close(job);
	books_report_leavers(job->view.books, job); /* what has ended since */
	for (size_t i = 0; i < job->nr_left; i++)
		tally_take_account(&job->view.tally, &job->view.books->gpus, job->left[i].serial);
	/* final now: the sum of the records */
	job->view.tally.totals = job_totals(job);
	job_bound_interval(job);
	job_publish(job);
}

static void left_emit(struct job *job, const struct process_record *r)
{
	if (!(r->flags & (PROCESS_ENDED | PROCESS_LEFT)))
		job->view.tally.summary.outlived++;
	job_emit(job, r, rows_find(&job->view.books->rows, r->serial), true);
}

static void job_note_losses(struct job *job)
{
	const struct tally_view *v = &job->view;
	struct summary *sum = &job->view.tally.summary;

	tally_view_note_losses(&job->view);
	summary_add_loss(sum, "fork_events", job->unrepaired);
	if (job->spec->net_peers)
		summary_add_loss(
			sum, "net_peers",
			growth_since(tracker_peers_lost(&v->books->tracker), v->base.peers_lost));
	if (metric_has(&v->run->usable, M_rss))
		summary_add_loss(sum, "process_memory", job->unread);
	sum->repaired = job->repaired;
}

/* With the process that reads GPUs, which is a part of it. */
static void collector_read_cost(const struct job *job, struct role_cost *cost)
{
	const struct gpu_reader *reader = job->view.books->gpus.reader;
	struct role_cost of_reader = { 0 };

	selfcost_read(getpid(), cost);
	if (reader)
		selfcost_read(gpu_reader_pid(reader), &of_reader);
	cost->cpu_ns += of_reader.cpu_ns;
	cost->rss_bytes += of_reader.rss_bytes;
}

static void job_note_costs(struct job *job)
{
	struct summary *sum = &job->view.tally.summary;

	tally_view_note_costs(&job->view);
	sum->has_pss_cost = job->spec->pss_ppm || job->pss.cost.reads;
	sum->pss = job_pss_cost(job);
	if (!sum->is_of_agent)
		collector_read_cost(job, &sum->collector);
	if (job->spec->recorder)
		selfcost_read(job->spec->recorder, &sum->recorder);
}

static void summary_note_peaks(struct job *job)
{
	struct summary *sum = &job->view.tally.summary;

	if (job->spec->tracker.exact_peak)
		exact_peak_finish(&job->exact, &job->view.books->tracker, job->view.start_ns, sum);
	if (!job->view.run->is_from_proc) /* without BPF, some processes have no record */
		memory_bound_report(&job->view.tally.bound,
				    metric_has(&job->view.run->usable, M_rss), sum);
	needed_watch_finish(job);
	if (metric_has(&job->view.run->usable, M_cgroup_memory))
		sum->has_cgroup_peak = cgroup_stat_peak(&job->cgroup, &sum->cgroup_peak_bytes);
}

static void summary_note_bounds(struct job *job)
{
	const struct tracker *t = &job->view.books->tracker;
	struct summary *sum = &job->view.tally.summary;
	uint64_t bytes, at_ns;

	if (!t->proc)
		return;
	sum->bounds.is_from_proc = true;
	sum->bounds.has_all_processes = proc_source_counts_all(t->proc);
	proc_source_bounds(t->proc, &t->usable, &sum->bounds.counters);
	if (!metric_has(&t->usable, M_rss))
		return;
	bytes = proc_source_tree_peak(t->proc, &at_ns);
	if (bytes > sum->rss_peak_bytes && at_ns > job->view.start_ns) {
		sum->rss_peak_bytes = bytes;
		sum->rss_peak_elapsed_ns = at_ns - job->view.start_ns;
	}
	summary_raise_peak(sum, proc_source_peak(t->proc));
	/* may be of a process that was not reaped */
	summary_raise_peak(sum, sum->process_rss_peak_bytes);
}

static void job_finish(struct job *job)
{
	summary_note_peaks(job);
	job_note_losses(job);
	job_note_costs(job);
	if (job->view.tally.summary.by_cgroup)
		job->view.tally.summary.cpu_unsure_ns = target_unsure_ns(job);
	summary_note_bounds(job);
	tally_view_put_summary(&job->view);
}

bool job_close_step(struct job *job)
{
	job_release_overdue(job);
	if (job->view.is_held)
		return false;
	for (; job->next_left < job->nr_left; job->next_left++) {
		if (!feeds_have_room(&job->view.feeds))
			return false;
		left_emit(job, &job->left[job->next_left]);
	}
	do
		if (!feeds_have_room(&job->view.feeds))
			return false;
	while (spans_write_left(&job->spans));
	if (!job_close_pushed(job))
		return false;
	if (job->state == JOB_LEAVES)
		job_finish(job);
	job->state = JOB_ENDED;
	return true;
}
