// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/writer.h"

#include "base/clock.h"
#include "base/memory.h"
#include "record/store/bind.h"
#include "record/store/process_row.h"
#include "record/store/run_row.h"
#include "store/column.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#define SAMPLES_OF_A_BLOCK 64

static int store_writer_prepare(struct store_writer *w, const char *sql, sqlite3_stmt **s)
{
	return database_error(
		&w->d, sqlite3_prepare_v3(w->d.db, sql, -1, SQLITE_PREPARE_PERSISTENT, s, NULL));
}

/* INSERT INTO @table with @fixed columns and then those of metrics, as parameters in that order. */
static int store_writer_prepare_insert(struct store_writer *w, const char *table, const char *fixed,
				       void (*metrics)(struct metric_set *set), sqlite3_stmt **s)
{
	char name[COLUMN_BYTES], *sql = NULL;
	struct metric_set set;
	size_t length, n = 1;
	FILE *f = open_memstream(&sql, &length);
	int err;

	if (!f)
		return -ENOMEM;
	for (const char *c = fixed; *c; c++)
		n += *c == ',';
	fprintf(f, "INSERT OR REPLACE INTO %s(%s", table, fixed);
	metrics(&set);
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&set, (enum metric_id)i))
			continue;
		fprintf(f, ",%s", column_name(name, (enum metric_id)i));
		n++;
	}
	fputs(") VALUES(?", f);
	for (; n > 1; n--)
		fputs(",?", f);
	fputc(')', f);
	err = fclose(f) ? -ENOMEM : store_writer_prepare(w, sql, s);
	free(sql);
	return err;
}

int store_writer_open(struct store_writer *w, const char *path)
{
	int err;

	*w = (struct store_writer){ 0 };
	err = database_open(&w->d, path, DATABASE_WRITE);
	if (!err)
		err = store_writer_prepare_insert(w, "sample", "run,elapsed_ns", metric_set_all,
						  &w->sample);
	if (!err)
		err = store_writer_prepare_insert(w, "block", "run,elapsed_ns", metric_set_all,
						  &w->block);
	if (!err)
		err = store_writer_prepare_insert(
			w, "process",
			"run,seq,pid,ns_pid,ppid,uid,comm,exe,args,args_cut,lossy,start_time_ns,"
			"joined_time_ns,left_time_ns,end_time_ns,exit_code,signal,state,"
			"threads_total,execs,rss_peak_bytes,rss_peak_exact",
			columns_of_process, &w->process);
	if (!err)
		err = store_writer_prepare_insert(
			w, "process_sample", "run,elapsed_ns,rank,pid,comm,start_time_ns,lossy",
			process_sample_metrics, &w->process_sample);
	if (!err)
		err = store_writer_prepare(
			w,
			"INSERT INTO event(run,seq,elapsed_ns,kind,event,line) VALUES(?,?,?,?,?,?)",
			&w->event);
	if (!err)
		err = store_writer_prepare(
			w,
			"UPDATE run SET seen_time_ns=?, lines_lost=?,"
			" wall_ns=iif(ended, wall_ns, ?), cpu_ns=iif(ended, cpu_ns, ?),"
			" rss_peak_bytes=iif(ended, rss_peak_bytes, ?) WHERE id=?",
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
	sqlite3_finalize(w->progress);
	w->sample = w->block = w->process = w->process_sample = w->event = w->progress = NULL;
	database_close(&w->d);
	line_done(&w->line);
}

int store_writer_run(struct store_writer *w, sqlite3_stmt *s)
{
	int rc = sqlite3_step(s), err = database_error(&w->d, rc);

	sqlite3_reset(s);
	sqlite3_clear_bindings(s);
	return err;
}

int store_writer_begin(struct store_writer *w)
{
	w->failures_before = memory_failures_of_thread();
	return database_run(&w->d, "BEGIN IMMEDIATE");
}

/* When the recorder last wrote; of an import, when the run ended. */
static uint64_t store_writer_seen_ns(const struct store_writer *w)
{
	return w->is_import ? w->line.start_epoch_ns + w->wall_ns : clock_ns(CLOCK_REALTIME);
}

/* Updates the run's row; @is_all: no more lines follow. */
static int store_writer_put_progress(struct store_writer *w, uint64_t lines_lost, bool is_all)
{
	int err;

	bind_amount(w->progress, 1, store_writer_seen_ns(w));
	sqlite3_bind_int64(w->progress, 2, (int64_t)lines_lost);
	/* an import that is cut short is recognized: its wall time is less than the file's */
	if (!w->is_import || is_all)
		bind_amount(w->progress, 3, w->wall_ns);
	if (w->has_cpu)
		bind_amount(w->progress, 4, w->cpu_ns);
	if (w->has_rss)
		bind_amount(w->progress, 5, w->rss_peak_bytes);
	sqlite3_bind_int64(w->progress, 6, w->run);
	err = store_writer_run(w, w->progress);
	return err ? err : database_check_update(&w->d);
}

int store_writer_commit(struct store_writer *w, uint64_t lines_lost)
{
	int err = 0;

	if (w->run && sqlite3_get_autocommit(w->d.db) == 0)
		err = store_writer_put_progress(w, lines_lost, false);
	/* a value that was not bound for lack of memory would be NULL */
	if (!err && memory_failures_of_thread() > w->failures_before)
		err = -ENOMEM;
	return err ? err : database_run(&w->d, "COMMIT");
}

static int store_writer_leave_run(struct store_writer *w)
{
	int err = store_writer_put_progress(w, 0, true);

	return err ? err
		   : database_runf(&w->d, "UPDATE run SET writer=NULL WHERE id=%lld",
				   (long long)w->run);
}

int store_writer_next(struct store_writer *w)
{
	int err = w->run ? store_writer_leave_run(w) : 0;

	w->run = w->processes = w->events = 0;
	w->wall_ns = w->cpu_ns = w->rss_peak_bytes = 0;
	w->in_block = 0;
	w->rank = 0;
	w->has_cpu = w->has_rss = w->has_ended = false;
	return err;
}

void store_writer_undo(struct store_writer *w)
{
	if (w->d.db && !sqlite3_get_autocommit(w->d.db))
		sqlite3_exec(w->d.db, "ROLLBACK", NULL, NULL, NULL);
}

static int store_writer_insert_sample(struct store_writer *w, sqlite3_stmt *s,
				      const struct sample *smp)
{
	int at = 1;

	sqlite3_bind_int64(s, at++, w->run);
	sqlite3_bind_int64(s, at++, (int64_t)smp->elapsed_ns);
	for (int i = 0; i < NR_METRICS; i++, at++)
		if (sample_has(smp, (enum metric_id)i))
			bind_amount(s, at, smp->value[i]);
	return store_writer_run(w, s);
}

/* Blocks of samples let a long run be drawn without reading all of it. */
static int store_writer_add_to_block(struct store_writer *w, const struct sample *smp)
{
	struct sample *b = &w->of_block;
	int err;

	if (!w->in_block)
		*b = (struct sample){ 0 };
	b->elapsed_ns = smp->elapsed_ns;
	for (int i = 0; i < NR_METRICS; i++) {
		enum metric_id id = (enum metric_id)i;

		if (sample_has(smp, id) && (metric_get(id)->kind == KIND_COUNTER ||
					    !sample_has(b, id) || smp->value[i] > b->value[i]))
			sample_set(b, id, smp->value[i]);
	}
	if (++w->in_block < SAMPLES_OF_A_BLOCK)
		return 0;
	err = store_writer_insert_sample(w, w->block, b);
	w->in_block = 0;
	return err;
}

static int store_writer_put_sample(struct store_writer *w)
{
	const struct sample *smp = &w->line.sample;
	int err;

	w->wall_ns = smp->elapsed_ns;
	if (sample_has(smp, M_cpu)) {
		w->cpu_ns = smp->value[M_cpu];
		w->has_cpu = true;
	}
	if (sample_has(smp, M_rss) && smp->value[M_rss] >= w->rss_peak_bytes) {
		w->rss_peak_bytes = smp->value[M_rss];
		w->has_rss = true;
	}
	err = store_writer_insert_sample(w, w->sample, smp);
	return err ? err : store_writer_add_to_block(w, smp);
}

/* Keeps a line of any other kind as text. */
static int store_writer_put_event(struct store_writer *w, const char *text, size_t length)
{
	uint64_t time_ns = json_epoch_of(w->line.tree, "time");
	uint64_t start_ns = w->line.start_epoch_ns;

	sqlite3_bind_int64(w->event, 1, w->run);
	sqlite3_bind_int64(w->event, 2, ++w->events);
	sqlite3_bind_int64(w->event, 3,
			   time_ns > start_ns ? (int64_t)((time_ns - start_ns) & INT64_MAX) : 0);
	bind_text(w->event, 4, w->line.tree, "kind");
	bind_text(w->event, 5, w->line.tree, "event");
	sqlite3_bind_text(w->event, 6, text, (int)length, SQLITE_STATIC);
	return store_writer_run(w, w->event);
}

static uint64_t store_line_elapsed_ns(const struct line *l)
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
	err = line_read(&w->line, text, length);
	if (err == -ENOMEM)
		return err;
	if (err) {
		w->unreadable++;
		return 0; /* skipped, as by every reader */
	}
	if (w->line.kind == LINE_META && !w->run)
		return run_row_begin(w, text, length);
	if (!w->run)
		return 0;
	if (store_line_elapsed_ns(&w->line) > INT64_MAX) { /* a key of the store */
		w->unreadable++;
		return 0;
	}
	switch (w->line.kind) {
	case LINE_SAMPLE:
		return store_writer_put_sample(w);
	case LINE_PROCESS:
		return process_row_put(w);
	case LINE_PROCESS_SAMPLE:
		return process_sample_row_put(w);
	case LINE_SUMMARY:
		return run_row_end(w, text, length);
	case LINE_META: /* a second one */
		return 0;
	default:
		return store_writer_put_event(w, text, length);
	}
}
