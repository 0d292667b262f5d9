// SPDX-License-Identifier: BSD-2-Clause
/* The jobs of the node in the list of runs. */
#include "web/web_node.h"

/* The stalls of jobs, by their runs: the history has none. */
void node_stalls_write(const struct node_job_rows *jobs, struct jsonw *j)
{
	jsonw_object(j, "stalls");
	for (size_t i = 0; i < jobs->nr; i++) {
		if (!jobs->all[i].stall.is_stalled)
			continue;
		jsonw_object(j, jobs->all[i].run);
		stall_state_write(&jobs->all[i].stall, j);
		jsonw_object_end(j);
	}
	jsonw_object_end(j);
}

/* A job of now under the keys of `bpfmon list --json`. */
static void job_write(const struct node_job_row *r, struct jsonw *j)
{
	static const enum metric_id shown[] = { M_cpu, M_rss };
	static const char *const keys[] = { "cpu_seconds", "rss_bytes" };

	jsonw_object(j, NULL);
	jsonw_string(j, "run", r->run);
	jsonw_string(j, "job", r->id);
	jsonw_string(j, "name", r->name);
	jsonw_string(j, "user", r->user);
	jsonw_string(j, "state", "running");
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	for (size_t i = 0; i < sizeof(shown) / sizeof(*shown); i++)
		if (metric_has(&r->have, shown[i]))
			jsonw_decimal(j, keys[i], r->value[shown[i]], metric_decimals(shown[i]));
	jsonw_object_end(j);
}

void node_jobs_write(const struct node_job_rows *jobs, struct jsonw *j)
{
	for (size_t i = 0; i < jobs->nr; i++)
		job_write(&jobs->all[i], j);
}
