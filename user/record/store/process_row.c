// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/process_row.h"

#include "record/store/bind.h"
#include "store/column.h"
#include "wire/tree.h"

#include <errno.h>

/* What there is of @columns, as the parameters from @at on. */
static void bind_metrics(sqlite3_stmt *s, int at, const struct metric_set *columns,
			 const uint64_t *value, const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		if (metric_has(have, (enum metric_id)i))
			bind_amount(s, at, value[i]);
		at++;
	}
}

static void bind_end(sqlite3_stmt *s, const struct process *p, const json_t *o)
{
	bind_time(s, 15, p->end_epoch_ns);
	bind_int(s, 16, o, "exit_code");
	bind_int(s, 17, o, "signal");
	bind_text(s, 18, o, "state");
}

int process_row_put(struct store_writer *w)
{
	const struct process *p = &w->line.process;
	const json_t *o = w->line.tree;
	sqlite3_stmt *s = w->process;
	struct metric_set columns;
	const json_t *list = json_object_get(o, "args");
	struct json args = { 0 };
	int at = 1, err;

	if (json_is_array(list))
		tree_write(&args, NULL, list);
	sqlite3_bind_int64(s, at++, w->run);
	sqlite3_bind_int64(s, at++, ++w->processes);
	bind_int(s, at++, o, "pid");
	bind_int(s, at++, o, "ns_pid");
	bind_int(s, at++, o, "ppid");
	bind_u32(s, at++, o, "uid");
	bind_text(s, at++, o, "comm");
	bind_text(s, at++, o, "exe");
	if (args.text)
		sqlite3_bind_text(s, at, args.text, (int)args.used, SQLITE_STATIC);
	at++;
	bind_int(s, at++, o, "args_cut");
	bind_int(s, at++, o, "lossy");
	bind_time(s, at++, p->start_epoch_ns);
	bind_time(s, at++, p->joined_epoch_ns);
	bind_time(s, at++, p->left_epoch_ns);
	bind_end(s, p, o);
	at = 19;
	bind_u32(s, at++, o, "threads_total");
	bind_u32(s, at++, o, "execs");
	bind_number(s, at++, o, "rss_peak_bytes", 0, INT64_MAX);
	bind_int(s, at++, o, "rss_peak_exact");
	columns_of_process(&columns);
	bind_metrics(s, at, &columns, p->value, &p->have);
	err = args.failed ? -ENOMEM : store_writer_run(w, s);
	jw_done(&args);
	return err;
}

/* Those of a sample come one after the other, the heaviest first. */
static int64_t rank_of(struct store_writer *w, uint64_t elapsed_ns)
{
	if (elapsed_ns != w->ranked_ns)
		w->rank = 0;
	w->ranked_ns = elapsed_ns;
	return ++w->rank;
}

int process_sample_row_put(struct store_writer *w)
{
	const struct process_sample *p = &w->line.process_sample;
	sqlite3_stmt *s = w->process_sample;
	struct metric_set columns;
	int at = 1;

	sqlite3_bind_int64(s, at++, w->run);
	sqlite3_bind_int64(s, at++, (int64_t)p->elapsed_ns);
	sqlite3_bind_int64(s, at++, rank_of(w, p->elapsed_ns));
	sqlite3_bind_int64(s, at++, p->pid);
	if (p->comm[0])
		sqlite3_bind_text(s, at, p->comm, -1, SQLITE_STATIC);
	at++;
	bind_time(s, at++, p->start_epoch_ns);
	if (p->lossy)
		sqlite3_bind_int(s, at, 1);
	at++;
	process_sample_metrics(&columns);
	bind_metrics(s, at, &columns, p->value, &p->have);
	return store_writer_run(w, s);
}
