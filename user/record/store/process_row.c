// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/process_row.h"

#include "record/store/bind.h"
#include "store/column.h"
#include "store/row_table.h"
#include "wire/tree.h"

#include <errno.h>

/* What there is of @columns, as the parameters from @at on. */
static void metrics_bind(sqlite3_stmt *s, int at, const struct metric_set *columns,
			 const uint64_t *value, const struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		if (metric_has(have, (enum metric_id)i))
			amount_bind(s, at, value[i]);
		at++;
	}
}

int process_row_put(struct store_writer *w)
{
	const struct process *p = &w->line.process;
	const json_t *o = w->line.tree;
	sqlite3_stmt *s = w->process;
	struct metric_set columns;
	const json_t *list = json_object_get(o, "args");
	struct jsonw args = { 0 };
	int err;

	if (json_is_array(list))
		tree_write(&args, NULL, list);
	columns_of_process(&columns);
	metrics_bind(s, columns_bind(s, FIRST_COLUMN, &process_table, WRITTEN_FIRST, o), &columns,
		     p->value, &p->have);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run);
	sqlite3_bind_int64(s, parameter_find(s, ":seq"), ++w->processes);
	if (args.text)
		sqlite3_bind_text(s, parameter_find(s, ":args"), args.text, (int)args.used,
				  SQLITE_STATIC);
	err = args.failed ? -ENOMEM : store_writer_run(w, s);
	jsonw_done(&args);
	return err;
}

/* Those of a sample come one after the other, the heaviest first. */
static int64_t rank_next(struct store_writer *w, uint64_t elapsed_ns)
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
	int at = columns_bind(s, FIRST_COLUMN, &process_sample_table, WRITTEN_FIRST, w->line.tree);

	process_sample_metrics(&columns);
	metrics_bind(s, at, &columns, p->value, &p->have);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run);
	sqlite3_bind_int64(s, parameter_find(s, ":elapsed_ns"), (int64_t)p->elapsed_ns);
	sqlite3_bind_int64(s, parameter_find(s, ":rank"), rank_next(w, p->elapsed_ns));
	return store_writer_run(w, s);
}
