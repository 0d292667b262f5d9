// SPDX-License-Identifier: BSD-2-Clause
#include "text/runs_text.h"

#include "base/json.h"
#include "text/run_column.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void run_put_json_number(struct jsonw *j, const char *key, int64_t v, unsigned decimals)
{
	if (v >= 0)
		jsonw_decimal(j, key, (uint64_t)v, decimals);
	else
		jsonw_null(j, key);
}

static void run_put_json_tags(struct jsonw *j, const char *tags)
{
	jsonw_object(j, "tags");
	for (const char *t = tags; *t; t += strlen(t) + 1) {
		const char *value = strchr(t, '=');
		char *key = value ? strndup(t, (size_t)(value - t)) : NULL;

		if (key)
			jsonw_string(j, key, value + 1);
		free(key);
	}
	jsonw_object_end(j);
}

static void run_put_json(struct jsonw *j, const struct stored_run *r, const char *const *sources)
{
	char ref[RUN_CELL_BYTES];

	jsonw_object(j, NULL);
	jsonw_schema(j, "list");
	jsonw_int(j, "id", r->id);
	/* what names it among the runs of all hosts */
	jsonw_string(j, "ref", run_ref_text(ref, r, sources));
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "name", r->name);
	jsonw_string(j, "job", r->job);
	jsonw_string(j, "command", r->command);
	jsonw_string(j, "user", r->user);
	jsonw_string(j, "host", r->host);
	run_put_json_tags(j, r->tags);
	jsonw_string(j, "note", r->note);
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	jsonw_string(j, "state", run_state_name(r->state));
	if (r->stall)
		stall_state_write(r->stall, j);
	if (r->state == RUN_FINISHED)
		jsonw_bool(j, "complete", run_is_complete(r));
	run_put_json_number(j, "exit_code", r->exit_code, 0);
	run_put_json_number(j, "signal", r->signal, 0);
	run_put_json_number(j, "wall_seconds", r->wall_ns, 9);
	run_put_json_number(j, "cpu_seconds", r->cpu_ns, 9);
	run_put_json_number(j, "memory_needed_bytes", run_needed_bytes(r), 0);
	jsonw_string(j, "memory_needed_witness", *r->needed.witness ? r->needed.witness : NULL);
	jsonw_string(j, "memory_needed_bound", *r->needed.bound ? r->needed.bound : NULL);
	run_put_json_number(j, "rss_peak_bytes", r->rss_peak_bytes, 0);
	run_put_json_number(j, "processes_total", r->processes, 0);
	jsonw_object_end(j);
	jsonw_newline(j);
}

int runs_json(FILE *f, const struct stored_runs *all, size_t shown, const char *const *sources)
{
	struct jsonw j = { 0 };
	bool failed = false;

	for (size_t i = 0; i < shown && !failed; i++) {
		jsonw_reset(&j);
		run_put_json(&j, &all->runs[i], sources);
		failed = j.failed;
		if (!failed)
			fwrite(j.text, 1, j.used, f);
	}
	jsonw_done(&j);
	return failed ? -ENOMEM : 0;
}
