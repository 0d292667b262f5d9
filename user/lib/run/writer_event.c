// SPDX-License-Identifier: BSD-2-Clause
/* Lines of kind event. */
#include "run/limits.h"
#include "run/writer_parts.h"
#include "run/writer.h"

#include <string.h>

static void event_begin_of(struct jsonw *j, const char *of, const struct run *run,
			   uint64_t elapsed_ns, const char *event)
{
	kind_begin(j, "event", of);
	epoch_write(j, "time", run->start_epoch_ns + elapsed_ns);
	jsonw_string(j, "event", event);
}

void event_begin(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, const char *event)
{
	event_begin_of(j, NULL, run, elapsed_ns, event);
}

void write_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns, const char *event,
		 uint64_t count)
{
	event_begin(j, run, elapsed_ns, event);
	jsonw_uint(j, "count", count);
	line_end(j);
}

static void stall_write(struct jsonw *j, const char *of, const struct run *run,
			const struct stall_event *e)
{
	event_begin_of(j, of, run, e->elapsed_ns, e->is_stalled ? "stalled" : "resumed");
	epoch_write(j, "since_time", run->start_epoch_ns + e->begun_ns);
	if (e->pids) {
		jsonw_array(j, "pids");
		for (size_t i = 0; i < e->nr_pids; i++)
			jsonw_int(j, NULL, e->pids[i]);
		jsonw_array_end(j);
	}
	line_end(j);
}

void write_stall(struct jsonw *j, const struct run *run, const struct stall_event *e)
{
	stall_write(j, NULL, run, e);
}

void write_node_stall(struct jsonw *j, const struct run *run, const struct stall_event *e)
{
	stall_write(j, run->id, run, e);
}

void oom_write(struct jsonw *j, const struct oom_kill *k)
{
	jsonw_int(j, "pid", k->pid);
	jsonw_bytes(j, "comm", k->comm, strlen(k->comm));
	jsonw_bool(j, "is_command", k->is_command);
	if (k->has_rss)
		jsonw_uint(j, "rss_bytes", k->rss_bytes);
	if (k->limit_bytes) {
		jsonw_uint(j, "limit_bytes", k->limit_bytes);
		jsonw_string(j, "cgroup", k->cgroup);
	}
}

void write_oom(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
	       const struct oom_kill *k)
{
	event_begin(j, run, elapsed_ns, "oom_kill");
	oom_write(j, k);
	line_end(j);
}

void write_limit(struct jsonw *j, const struct run *run, const struct limit_hit *hit)
{
	event_begin(j, run, hit->elapsed_ns, "limit");
	limit_hit_write(j, hit);
	line_end(j);
}

void write_cgroup_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			const char *event, const char *path)
{
	event_begin(j, run, elapsed_ns, event);
	jsonw_string(j, "cgroup", path);
	line_end(j);
}

void write_cgroup_difference(struct jsonw *j, const struct run *run, const struct sample *smp,
			     const char *path)
{
	event_begin(j, run, smp->elapsed_ns, "cgroup_differs");
	jsonw_string(j, "cgroup", path);
	metric_write(j, M_cpu, smp->value[M_cpu]);
	metric_write(j, M_cgroup_cpu, smp->value[M_cgroup_cpu]);
	line_end(j);
}

void write_process_event(struct jsonw *j, const struct run *run, uint64_t elapsed_ns,
			 const char *event, int32_t pid, const char *reason)
{
	event_begin(j, run, elapsed_ns, event);
	jsonw_int(j, "pid", pid);
	jsonw_string(j, "reason", reason);
	line_end(j);
}
