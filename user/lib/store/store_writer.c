// SPDX-License-Identifier: BSD-2-Clause
#include "store/store_writer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "run/reader.h"
#include "run/tree.h"
#include "run/writer.h"
#include "store/database_open.h"
#include "store/row_table.h"
#include "store/schema.h"
#include "store/table_column.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Executes and resets a statement. */
static int store_writer_run(struct store_writer *w, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s), err = database_error(&w->d, rc);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return err;
}

/*
 * Largest line of a span: a summary, and the name and tags of one message, with up to six bytes in
 * JSON for each of their bytes.
 */
#define LARGEST_LINE (1U << 20)

static void span_bind_used(sqlite3_stmt *s, int at, const struct summary *used)
{
	struct metric_set columns;

	columns_of_span(&columns);
	metrics_bind(s, at, &columns, used->total.value, &used->total.have);
	amount_bind(s, parameter_find(s, ":wall_ns"), used->wall_ns);
}

/*
 * Writes the span in w->line, parsed from @text. A longer line than bpfmon writes is counted as
 * unreadable. Errors as database_open().
 */
static int span_row_put(struct store_writer *w, const char *text, size_t length)
{
	const json_t *o = w->line.tree, *tags = json_object_get(o, "tags");
	struct jsonw of_tags = { 0 };
	sqlite3_stmt *s = w->span;
	int err;

	if (length > LARGEST_LINE) {
		w->unreadable++;
		return 0;
	}
	if (json_is_object(tags))
		tree_write(&of_tags, NULL, tags);
	span_bind_used(s, columns_bind(s, FIRST_COLUMN, &span_table, WRITTEN_FIRST, o),
		       &w->line.span.used);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":seq"), ++w->run->spans);
	if (of_tags.text)
		sqlite3_bind_text(s, parameter_find(s, ":tags"), of_tags.text, (int)of_tags.used,
				  SQLITE_STATIC);
	sqlite3_bind_text(s, parameter_find(s, ":line"), text, (int)length, SQLITE_STATIC);
	err = of_tags.failed ? -ENOMEM : store_writer_run(w, s);
	jsonw_done(&of_tags);
	return err;
}

/* Binds the member of @row for a column; NULL for values that lines omit. */
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

/* Corrects the columns where lines omit a member that has a value, or have null, or the reverse. */
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
	if (!p->gpu_memory_peak_bytes)
		sqlite3_bind_null(s, parameter_find(s, ":gpu_memory_peak_bytes"));
	if (p->has_rss_peak)
		sqlite3_bind_int(s, parameter_find(s, ":rss_peak_exact"), p->rss_peak_exact);
}

/* Binds the columns from @row, the struct of the table. columns_bind() does so from JSON. */
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

static void args_rewrite(struct jsonw *j, const struct line *l)
{
	const struct process *p = &l->process;
	const json_t *list = json_object_get(l->tree, "args");

	if (json_is_array(list))
		tree_write(j, NULL, list);
	else if (!l->tree && p->args)
		args_write(j, NULL, p);
}

/* Writes the process in w->line. Errors as database_open(), here and below. */
static int process_row_put(struct store_writer *w)
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

/* Returns the rank of a process in its sample. They come in that order. */
static int64_t rank_next(struct store_writer *w, uint64_t elapsed_ns)
{
	if (elapsed_ns != w->run->ranked_ns)
		w->run->rank = 0;
	w->run->ranked_ns = elapsed_ns;
	return ++w->run->rank;
}

static int process_sample_row_put(struct store_writer *w)
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

static int statement_prepare(struct database *d, const char *sql, sqlite3_stmt **s)
{
	return database_error(
		d, sqlite3_prepare_v3(d->db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL));
}

static void insert_put(sqlite3_str *sql, const struct stored_table *t, const struct metric_set *set)
{
	char name[COLUMN_BYTES];

	sqlite3_str_appendf(sql, "INSERT OR REPLACE INTO %s(run", t->name);
	for (size_t i = 0; i < t->nr; i++)
		sqlite3_str_appendf(sql, ",%s", t->columns[i].name);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(set, (enum metric_id)i))
			sqlite3_str_appendf(sql, ",%s", column_name(name, (enum metric_id)i));
	sqlite3_str_appendall(sql, ") VALUES(:run");
	for (size_t i = 0; i < t->nr; i++)
		sqlite3_str_appendf(sql, ",:%s", t->columns[i].name);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(set, (enum metric_id)i))
			sqlite3_str_appendall(sql, ",?");
	sqlite3_str_appendall(sql, ")");
}

/*
 * Prepares an INSERT. Its parameters are the run, the table's columns by name (":pid"), and its
 * metrics, in this order.
 */
static int insert_prepare(struct database *d, const char *table, sqlite3_stmt **s)
{
	const struct run_table *t = run_table_find(table);
	sqlite3_str *text = sqlite3_str_new(d->db);
	struct metric_set set;
	char *sql;
	int err;

	t->metrics(&set);
	insert_put(text, t->columns, &set);
	sql = sqlite3_str_finish(text);
	err = sql ? statement_prepare(d, sql, s) : -ENOMEM;
	sqlite3_free(sql);
	return err;
}

#define SAMPLES_OF_A_BLOCK 64

static int inserts_prepare(struct store_writer *w)
{
	const struct {
		const char *table;
		sqlite3_stmt **s;
	} inserts[] = {
		{ "sample", &w->sample },     { "block", &w->block },
		{ "process", &w->process },   { "process_sample", &w->process_sample },
		{ "event", &w->event },       { "span", &w->span },
		{ "instance", &w->instance },
	};
	int err = 0;

	for (size_t i = 0; !err && i < sizeof(inserts) / sizeof(*inserts); i++)
		err = insert_prepare(&w->d, inserts[i].table, inserts[i].s);
	return err;
}

int store_writer_open(struct store_writer *w, const char *path)
{
	int err;

	*w = (struct store_writer){ 0 };
	w->run = &w->own;
	identity_self(w->self);
	err = database_open(&w->d, path, DATABASE_WRITE);
	if (!err)
		err = inserts_prepare(w);
	if (!err)
		err = statement_prepare(
			&w->d,
			"UPDATE run SET seen_time_ns=:seen, lines_lost=:lost,"
			" wall_ns=iif(ended, wall_ns, :wall), cpu_ns=iif(ended, cpu_ns, :cpu),"
			" rss_peak_bytes=iif(ended, rss_peak_bytes, :rss) WHERE id=:run",
			&w->progress);
	if (err)
		store_writer_close(w);
	return err;
}

void store_writer_close(struct store_writer *w)
{
	sqlite3_finalize(w->sample);
	sqlite3_finalize(w->block);
	sqlite3_finalize(w->process);
	sqlite3_finalize(w->process_sample);
	sqlite3_finalize(w->event);
	sqlite3_finalize(w->span);
	sqlite3_finalize(w->instance);
	sqlite3_finalize(w->progress);
	w->sample = w->block = w->process = w->process_sample = w->event = w->span = NULL;
	w->progress = w->instance = NULL;
	database_close(&w->d);
	line_done(&w->line);
}

int store_writer_begin(struct store_writer *w)
{
	w->failures_before = memory_failures_of_thread();
	return database_run(&w->d, "BEGIN IMMEDIATE");
}

/* Returns the time of the recorder's last write; for an import, the end of the run. */
static uint64_t seen_ns(const struct store_writer *w)
{
	return w->is_import ? w->line.start_epoch_ns + w->run->wall_ns : clock_ns(CLOCK_REALTIME);
}

/* Writes the progress of the run. @is_all: there are no more lines. */
static int progress_put(struct store_writer *w, uint64_t lines_lost, bool is_all)
{
	sqlite3_stmt *s = w->progress;
	int err;

	amount_bind(s, parameter_find(s, ":seen"), seen_ns(w));
	sqlite3_bind_int64(s, parameter_find(s, ":lost"), (int64_t)lines_lost);
	/* an interrupted import must count as shorter than the file, to be renewed */
	if (!w->is_import || is_all)
		amount_bind(s, parameter_find(s, ":wall"), w->run->wall_ns);
	if (w->run->has_cpu)
		amount_bind(s, parameter_find(s, ":cpu"), w->run->cpu_ns);
	if (w->run->has_rss)
		amount_bind(s, parameter_find(s, ":rss"), w->run->rss_peak_bytes);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	err = store_writer_run(w, s);
	return err ? err : database_check_update(&w->d);
}

int store_writer_commit(struct store_writer *w, uint64_t lines_lost)
{
	int err = 0;

	if (w->run->id && sqlite3_get_autocommit(w->d.db) == 0)
		err = progress_put(w, lines_lost, false);
	/* a value that could not be bound for lack of memory is NULL */
	if (!err && memory_failures_of_thread() > w->failures_before)
		err = -ENOMEM;
	return err ? err : database_run(&w->d, "COMMIT");
}

void store_writer_select(struct store_writer *w, struct store_run *run)
{
	w->run = run ? run : &w->own;
}

int store_writer_save_progress(struct store_writer *w)
{
	return progress_put(w, 0, false);
}

int store_writer_end_run(struct store_writer *w)
{
	int err = progress_put(w, 0, true);

	return err ? err
		   : database_runf(&w->d, "UPDATE run SET writer=NULL WHERE id=%lld",
				   (long long)w->run->id);
}

int store_writer_next(struct store_writer *w)
{
	int err = w->run->id ? store_writer_end_run(w) : 0;

	*w->run = (struct store_run){ 0 };
	return err;
}

void store_writer_undo(struct store_writer *w)
{
	if (w->d.db && !sqlite3_get_autocommit(w->d.db))
		sqlite3_exec(w->d.db, "ROLLBACK", NULL, NULL, NULL);
}

static int sample_insert(struct store_writer *w, sqlite3_stmt *s, const struct sample *smp)
{
	int at = columns_bind(s, FIRST_COLUMN, &sample_table, WRITTEN_FIRST, NULL);

	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":elapsed_ns"), (int64_t)smp->elapsed_ns);
	for (int i = 0; i < NR_METRICS; i++, at++)
		if (sample_has(smp, (enum metric_id)i))
			amount_bind(s, at, smp->value[i]);
	return store_writer_run(w, s);
}

static int instance_insert(struct store_writer *w, uint64_t elapsed_ns, const struct instance *i)
{
	sqlite3_stmt *s = w->instance;
	int at = columns_bind(s, FIRST_COLUMN, &instance_table, WRITTEN_FIRST, NULL);
	struct metric_set all;

	metric_set_all(&all);
	metrics_bind(s, at, &all, i->value, &i->have);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":elapsed_ns"), (int64_t)elapsed_ns);
	sqlite3_bind_text(s, parameter_find(s, ":dimension"), i->dimension, -1, SQLITE_STATIC);
	sqlite3_bind_text(s, parameter_find(s, ":name"), i->name, -1, SQLITE_STATIC);
	return store_writer_run(w, s);
}

/*
 * Adds the sample to the current block, and writes a block that is full. Charts of long runs read
 * only blocks.
 */
static int block_add(struct store_writer *w, const struct sample *smp)
{
	struct sample *b = &w->run->of_block;
	int err;

	if (!w->run->in_block)
		*b = (struct sample){ 0 };
	sample_cover(b, smp);
	if (++w->run->in_block < SAMPLES_OF_A_BLOCK)
		return 0;
	err = sample_insert(w, w->block, b);
	w->run->in_block = 0;
	return err;
}

int store_writer_put_sample(struct store_writer *w, const struct sample *smp)
{

	w->run->wall_ns = smp->elapsed_ns;
	if (sample_has(smp, M_cpu)) {
		w->run->cpu_ns = smp->value[M_cpu];
		w->run->has_cpu = true;
	}
	if (sample_has(smp, M_rss) && smp->value[M_rss] > w->run->rss_peak_bytes) {
		w->run->rss_peak_bytes = smp->value[M_rss];
		w->run->has_rss = true;
	}
	return sample_insert(w, w->sample, smp);
}

static int sample_put(struct store_writer *w, const struct sample *smp)
{
	int err = store_writer_put_sample(w, smp);

	for (size_t i = 0; !err && i < smp->nr_instances; i++)
		err = instance_insert(w, smp->elapsed_ns, &smp->instances[i]);
	return err ? err : block_add(w, smp);
}

/* Writes a line of any other kind verbatim. */
static int event_put(struct store_writer *w, const char *text, size_t length)
{
	uint64_t time_ns = member_read_epoch(w->line.tree, "time");
	uint64_t start_ns = w->line.start_epoch_ns;
	sqlite3_stmt *s = w->event;

	columns_bind(s, FIRST_COLUMN, &event_table, WRITTEN_FIRST, w->line.tree);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":seq"), ++w->run->events);
	sqlite3_bind_int64(s, parameter_find(s, ":elapsed_ns"),
			   time_ns > start_ns ? (int64_t)((time_ns - start_ns) & INT64_MAX) : 0);
	sqlite3_bind_text(s, parameter_find(s, ":line"), text, (int)length, SQLITE_STATIC);
	return store_writer_run(w, s);
}

static uint64_t line_elapsed_ns(const struct line *l)
{
	return l->kind == LINE_SAMPLE           ? l->sample.elapsed_ns
	       : l->kind == LINE_PROCESS_SAMPLE ? l->process_sample.elapsed_ns
						: 0;
}

int store_writer_put(struct store_writer *w, const char *text, size_t length)
{
	int err;

	if (length && text[length - 1] == '\n')
		length--;
	err = line_read_quick(&w->line, text, length);
	if (err == -ENOMEM)
		return err;
	if (err) {
		w->unreadable++;
		return 0; /* lines that cannot be parsed are skipped */
	}
	if (w->line.kind == LINE_META && !w->run->id)
		return run_row_begin(w, text, length);
	if (!w->run->id)
		return 0;
	if (line_elapsed_ns(&w->line) > INT64_MAX) { /* beyond the range of a key */
		w->unreadable++;
		return 0;
	}
	switch (w->line.kind) {
	case LINE_SAMPLE:
		return sample_put(w, &w->line.sample);
	case LINE_PROCESS:
		return process_row_put(w);
	case LINE_PROCESS_SAMPLE:
		return process_sample_row_put(w);
	case LINE_SPAN:
		return span_row_put(w, text, length);
	case LINE_SUMMARY:
		return run_row_end(w, text, length);
	case LINE_META: /* a second one */
		return 0;
	default:
		return event_put(w, text, length);
	}
}
