// SPDX-License-Identifier: BSD-2-Clause
/* The line about the agent itself: what it costs, what it holds, what it has lost. */
#include "agent/agent.h"
#include "base/clock.h"
#include "run/agent_metric.h"

#include <stdio.h>
#include <unistd.h>

static void losses_write(struct jsonw *j, const struct tracking *t)
{
	jsonw_object(j, "losses");
	for (int i = 0; i < NR_LOSSES; i++)
		jsonw_uint(j, job_loss_name(i), t->loss[i]);
	jsonw_object_end(j);
}

static uint64_t lines_dropped(const struct agent *a)
{
	uint64_t sum = a->stream.dropped;

	for (const struct listener *l = a->stream.first; l; l = l->next)
		sum += l->feed.dropped;
	return sum;
}

/* Resident memory now, bytes; 0: it cannot be read. */
static uint64_t own_rss_read(void)
{
	FILE *f = fopen("/proc/self/statm", "re");
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

		if (value[i] || i != AGENT_rss_bytes) /* it may not have been read */
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
