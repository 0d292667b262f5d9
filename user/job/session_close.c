// SPDX-License-Identifier: BSD-2-Clause
/* How a session ends: the last drain, what is left in the maps, the summary. */
#include "base/memory.h"
#include "job/selfcost.h"
#include "job/session.h"
#include "wire/writer.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int compare_serials(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

static void emit_left(void *context, const struct process_record *r)
{
	struct session *s = context;

	if (s->nr_emitted &&
	    bsearch(&r->serial, s->emitted, s->nr_emitted, sizeof(*s->emitted), compare_serials))
		return;
	if (!(r->flags & (PROCESS_ENDED | PROCESS_LEFT)))
		s->summary.outlived++;
	session_emit(s, r, rows_find(&s->rows, r->serial), true);
}

static void tell_losses(struct session *s)
{
	static const char *const names[NR_LOSSES] = {
		[LOSS_TASKS_FULL] = "tasks",   [LOSS_PROCESSES_FULL] = "processes",
		[LOSS_ACCOUNTS] = "accounts",  [LOSS_RECORDS] = "process_records",
		[LOSS_EXECS] = "exec_events",  [LOSS_STALE] = "free_events",
		[LOSS_MMS] = "address_spaces", [LOSS_OOM] = "oom_events",
	};
	const struct tracking *t = tracker_tracking(&s->tracker);
	struct summary *sum = &s->summary;
	uint64_t lost;

	for (int i = 0; i < NR_LOSSES; i++)
		summary_add_loss(sum, names[i], t->loss[i]);
	summary_add_loss(sum, "fork_events", tracker_unrepaired(&s->tracker));
	summary_add_loss(sum, "stream_lines", s->stream.dropped);
	summary_add_loss(sum, "process_samples", s->stream.spared);
	/* what did without, and said so nowhere, counts too */
	lost = s->unnamed + s->rows.lost;
	summary_add_loss(sum, "memory_allocations",
			 lost > memory_failures() ? lost : memory_failures());
	if (metric_has(&s->run->usable, M_rss))
		summary_add_loss(sum, "process_memory", s->unread);
	sum->repaired = t->adopted_late + t->ends_unseen + t->images_unseen + t->frees_unseen;
	if (t->loss[LOSS_TASKS_FULL] || t->loss[LOSS_PROCESSES_FULL])
		snprintf(sum->reason, sizeof(sum->reason),
			 "the map holds %u tasks; see --max-tasks", tracker_max_tasks(&s->tracker));
}

static int by_size(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

static void tell_self(struct session *s)
{
	struct summary *sum = &s->summary;
	size_t n = s->tracker.drains < DRAIN_TIMES ? s->tracker.drains : DRAIN_TIMES;

	sum->drains = s->tracker.drains;
	sum->drain_ns_total = s->tracker.drain_ns_total;
	sum->drain_ns_max = s->tracker.drain_ns_max;
	qsort(s->drain_us, n, sizeof(*s->drain_us), by_size);
	sum->drain_ns_median = n ? s->drain_us[n / 2] * 1000ULL : 0;
	sum->has_pss_cost = s->pss.budget_ppm > 0;
	sum->pss = s->pss.cost;
	selfcost_read(getpid(), &sum->collector);
	selfcost_read(s->options->recorder, &sum->recorder);
}

void session_close(struct session *s)
{
	pushed_stop(&s->pushed, s->summary.samples); /* what comes now is after the end */
	session_drain(s, true);
	s->summary.map_bytes = tracker_map_bytes(&s->tracker);
	s->is_closing = true;
	tracker_detach(&s->tracker);
	session_publish(s);
	stream_flush_whole(&s->stream); /* what comes now is not to be dropped */
	if (s->nr_emitted)
		qsort(s->emitted, s->nr_emitted, sizeof(*s->emitted), compare_serials);
	tracker_each_process(&s->tracker, emit_left, s);
	session_close_pushed(s);
	stream_flush_whole(&s->stream);
	if (s->options->tracker.exact_peak)
		exact_peak_finish(&s->exact, &s->tracker, s->start_ns, &s->summary);
	tell_losses(s);
	tell_self(s);
	s->summary.marks_reset = s->bound.mark_fell;
	if (metric_has(&s->run->usable, M_rss) && !s->bound.is_unknown && !s->bound.mark_fell) {
		s->summary.has_rss_peak_upper = true;
		s->summary.rss_peak_upper_bytes =
			s->bound.peak_pages * (uint64_t)sysconf(_SC_PAGESIZE);
	}
	if (metric_has(&s->run->usable, M_cgroup_memory))
		s->summary.has_cgroup_peak =
			cgroup_stat_peak(&s->cgroup, &s->summary.cgroup_peak_bytes);
	if (s->summary.by_cgroup)
		s->summary.cpu_unsure_ns = target_unsure_ns(s);
	s->summary.has_cores = metric_has(&s->run->usable, M_cores);
	summary_finish(&s->summary);
	write_summary(&s->json, &s->summary);
	stream_put(&s->stream, &s->json);
	stream_flush_whole(&s->stream);
}
