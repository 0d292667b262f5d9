// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/process_row.h"

#include "record/store/bind.h"
#include "store/column.h"
#include "store/row_table.h"
#include "wire/parts.h"
#include "wire/tree.h"

#include <errno.h>

/* Binds the member of @row that is the column's; NULL for what a line leaves out then. */
static void member_bind(sqlite3_stmt *s, int at, const struct table_column *c, const void *row)
{
	const char *member = (const char *)row + c->offset;

	switch (c->type) {
	case COLUMN_TEXT:
		sqlite3_bind_text(s, at, *(const char *const *)member, -1, SQLITE_STATIC);
		break;
	case COLUMN_TIME:
		time_bind(s, at, *(const uint64_t *)member);
		break;
	case COLUMN_UINT32:
		sqlite3_bind_int64(s, at, *(const uint32_t *)member);
		break;
	case COLUMN_INT:
		sqlite3_bind_int(s, at, *(const int32_t *)member);
		break;
	case COLUMN_TRUTH:
		if (*(const bool *)member)
			sqlite3_bind_int(s, at, 1);
		break;
	default:
		if (!c->has || *((const char *)row + c->has))
			amount_bind(s, at, *(const uint64_t *)member);
	}
}

/* What the line lacks, or has as null, although its member has a value; and the opposite. */
static void exceptions_bind(sqlite3_stmt *s, const struct process *p)
{
	if (!p->has_ended || p->signal)
		sqlite3_bind_null(s, parameter_find(s, ":exit_code"));
	if (!p->signal)
		sqlite3_bind_null(s, parameter_find(s, ":signal"));
	if (!p->span)
		sqlite3_bind_null(s, parameter_find(s, ":span"));
	if (!p->children_cpu_ns)
		sqlite3_bind_null(s, parameter_find(s, ":children_cpu_ns"));
	if (p->has_rss_peak)
		sqlite3_bind_int(s, parameter_find(s, ":rss_peak_exact"), p->rss_peak_exact);
}

/* The columns of a line without a tree, as columns_bind(): @row is a struct of the table's. */
static int members_bind(sqlite3_stmt *s, const struct stored_table *table, const void *row)
{
	int at = FIRST_COLUMN;

	for (size_t i = 0; i < table->nr; i++) {
		const struct table_column *c = &table->columns[i];

		if (c->written != WRITTEN_FIRST)
			continue;
		if (c->key)
			member_bind(s, at, c, row);
		at++;
	}
	return at;
}

static int process_bind(sqlite3_stmt *s, const struct process_row *row)
{
	int at = members_bind(s, &process_table, row);

	exceptions_bind(s, &row->process);
	return at;
}

/* Its arguments as a list, as the line has them. */
static void args_rewrite(struct jsonw *j, const struct line *l)
{
	const struct process *p = &l->process;
	const json_t *list = json_object_get(l->tree, "args");

	if (json_is_array(list))
		tree_write(j, NULL, list);
	else if (!l->tree && p->args)
		args_write(j, NULL, p);
}

int process_row_put(struct store_writer *w)
{
	const struct process *p = &w->line.process;
	const json_t *o = w->line.tree;
	const char state[] = { p->state, '\0' };
	const struct process_row row = { .process = *p,
					 .comm = p->comm,
					 .state = p->has_ended ? NULL : state };
	sqlite3_stmt *s = w->process;
	struct metric_set columns;
	struct jsonw args = { 0 };
	int err, at;

	args_rewrite(&args, &w->line);
	columns_of_process(&columns);
	at = o ? columns_bind(s, FIRST_COLUMN, &process_table, WRITTEN_FIRST, o)
	       : process_bind(s, &row);
	metrics_bind(s, at, &columns, p->value, &p->have);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":seq"), ++w->run->processes);
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
	if (elapsed_ns != w->run->ranked_ns)
		w->run->rank = 0;
	w->run->ranked_ns = elapsed_ns;
	return ++w->run->rank;
}

int process_sample_row_put(struct store_writer *w)
{
	const struct process_sample *p = &w->line.process_sample;
	const struct process_sample_row row = { .sample = *p, .comm = p->comm[0] ? p->comm : NULL };
	const json_t *o = w->line.tree;
	sqlite3_stmt *s = w->process_sample;
	struct metric_set columns;
	int at = o ? columns_bind(s, FIRST_COLUMN, &process_sample_table, WRITTEN_FIRST, o)
		   : members_bind(s, &process_sample_table, &row);

	process_sample_metrics(&columns);
	metrics_bind(s, at, &columns, p->value, &p->have);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":elapsed_ns"), (int64_t)p->elapsed_ns);
	sqlite3_bind_int64(s, parameter_find(s, ":rank"), rank_next(w, p->elapsed_ns));
	return store_writer_run(w, s);
}
