// SPDX-License-Identifier: BSD-2-Clause
#include "store/rows.h"

#include "store/column.h"
#include "store/value.h"

#include <errno.h>
#include <string.h>

/* In the order of row_process(). */
static const char process_columns[] =
	"pid, ns_pid, ppid, uid, comm, exe, args, args_cut, lossy, start_time_ns, joined_time_ns,"
	" left_time_ns, end_time_ns, exit_code, signal, state, threads_total, execs,"
	" rss_peak_bytes, rss_peak_exact, seq";
#define PROCESS_SEQ_AT 20
#define PROCESS_METRICS_AT 21
#define PROCESS_SAMPLE_METRICS_AT 5
#define BLOCKS_OF_A_LONG_RUN 200 /* as many as a terminal has columns */

/* SELECT @fixed and the columns of metrics in @have, of the rows of one run. */
static void put_select(sqlite3_str *sql, const char *table, const char *fixed,
		       const struct metric_set *have)
{
	char name[COLUMN_BYTES];

	sqlite3_str_appendf(sql, "SELECT %s", fixed);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			sqlite3_str_appendf(sql, ",%s", column_name(name, (enum metric_id)i));
	sqlite3_str_appendf(sql, " FROM %s WHERE run=?1", table);
}

/* Takes the text over. */
static int prepare(struct database *d, int64_t id, sqlite3_str *text, sqlite3_stmt **s)
{
	char *sql = sqlite3_str_finish(text);
	int err = sql ? database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL)) : -ENOMEM;

	sqlite3_free(sql);
	if (!err)
		sqlite3_bind_int64(*s, 1, id);
	return err;
}

static int select_rows(struct database *d, int64_t id, const char *table, const char *fixed,
		       const struct metric_set *have, sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(d->db);

	put_select(sql, table, fixed, have);
	return prepare(d, id, sql, s);
}

/* Of the columns that the file has those that are wanted. */
static struct metric_set wanted(const struct metric_set *columns, const struct metric_set *only)
{
	struct metric_set both = *columns;

	for (size_t i = 0; only && i < METRIC_WORDS; i++)
		both.bits[i] &= only->bits[i];
	return both;
}

int rows_of_samples(struct database *d, int64_t id, const struct metric_set *only, sqlite3_stmt **s)
{
	const struct metric_set columns = wanted(&d->sample_columns, only);

	return select_rows(d, id, "sample", "elapsed_ns", &columns, s);
}

static int count_blocks(struct database *d, int64_t id, int64_t *nr)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db, "SELECT count(*) FROM block WHERE run=?", -1, &s, NULL);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(s, 1, id);
		rc = sqlite3_step(s);
	}
	*nr = rc == SQLITE_ROW ? sqlite3_column_int64(s, 0) : 0;
	sqlite3_finalize(s);
	return database_error(d, rc);
}

int rows_of_blocks(struct database *d, int64_t id, const struct metric_set *only, sqlite3_stmt **s)
{
	const struct metric_set columns = wanted(&d->sample_columns, only);
	sqlite3_str *sql;
	int64_t nr;
	int err = count_blocks(d, id, &nr);

	if (err || nr < BLOCKS_OF_A_LONG_RUN)
		return err ? err : rows_of_samples(d, id, only, s);
	sql = sqlite3_str_new(d->db);
	put_select(sql, "block", "elapsed_ns", &columns);
	sqlite3_str_appendall(sql, " UNION ALL "); /* the samples that fill no block yet */
	put_select(sql, "sample", "elapsed_ns", &columns);
	sqlite3_str_appendall(sql,
			      " AND elapsed_ns > (SELECT max(elapsed_ns) FROM block WHERE run=?1)");
	return prepare(d, id, sql, s);
}

int rows_of_processes(struct database *d, int64_t id, sqlite3_stmt **s)
{
	return select_rows(d, id, "process", process_columns, &d->process_columns, s);
}

int rows_of_process_samples(struct database *d, int64_t id, uint64_t from_ns, uint64_t to_ns,
			    sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(d->db);
	int err;

	put_select(sql, "process_sample", "elapsed_ns, pid, comm, start_time_ns, lossy",
		   &d->process_sample_columns);
	sqlite3_str_appendall(sql, " AND elapsed_ns BETWEEN ?2 AND ?3");
	err = prepare(d, id, sql, s);
	if (err)
		return err;
	sqlite3_bind_int64(*s, 2, (int64_t)from_ns);
	sqlite3_bind_int64(*s, 3, to_ns > INT64_MAX ? INT64_MAX : (int64_t)to_ns);
	return 0;
}

int rows_of_events(struct database *d, int64_t id, sqlite3_stmt **s)
{
	static const struct metric_set none;

	return select_rows(d, id, "event", "elapsed_ns, line, seq", &none, s);
}

static void read_metrics(struct row *r, int at, const struct metric_set *columns, uint64_t *value,
			 struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		if (!row_is_null(r, at)) {
			value[i] = row_count(r, at);
			metric_put(have, (enum metric_id)i);
		}
		at++;
	}
}

int row_sample(struct database *d, const struct metric_set *only, sqlite3_stmt *s,
	       struct sample *smp)
{
	const struct metric_set columns = wanted(&d->sample_columns, only);
	struct row r = { .d = d, .s = s, .table = "sample" };

	sample_reset(smp);
	smp->elapsed_ns = row_count(&r, 0);
	read_metrics(&r, 1, &columns, smp->value, &smp->have);
	return r.err;
}

int row_process_sample(struct database *d, sqlite3_stmt *s, struct process_sample *p)
{
	struct row r = { .d = d, .s = s, .table = "process_sample" };
	const char *comm = row_text(&r, 2);

	*p = (struct process_sample){
		.elapsed_ns = row_count(&r, 0),
		.pid = row_int(&r, 1),
		.start_epoch_ns = row_count(&r, 3),
		.lossy = row_int(&r, 4),
	};
	if (comm)
		comm_copy(p->comm, comm, SIZE_MAX);
	read_metrics(&r, PROCESS_SAMPLE_METRICS_AT, &d->process_sample_columns, p->value, &p->have);
	return r.err;
}

int row_process(struct database *d, sqlite3_stmt *s, int64_t *last, struct process *p,
		const char **args)
{
	struct row r = { .d = d, .s = s, .table = "process" };
	const char *comm = row_text(&r, 4), *state = row_text(&r, 15);

	*p = (struct process){
		.pid = row_int(&r, 0),
		.ns_pid = row_int(&r, 1),
		.ppid = row_int(&r, 2),
		.uid = row_u32(&r, 3),
		.exe = row_text(&r, 5),
		.args_cut = row_int(&r, 7),
		.lossy = row_int(&r, 8),
		.start_epoch_ns = row_count(&r, 9),
		.joined_epoch_ns = row_count(&r, 10),
		.left_epoch_ns = row_count(&r, 11),
		.end_epoch_ns = row_count(&r, 12),
		.has_ended = !state,
		.exit_code = row_int(&r, 13),
		.signal = row_int(&r, 14),
		.state = state ? *state : '\0',
		.threads_total = row_u32(&r, 16),
		.execs = row_u32(&r, 17),
		.has_rss_peak = !row_is_null(&r, 18),
		.rss_peak_bytes = row_count(&r, 18),
		.rss_peak_exact = row_int(&r, 19),
	};
	if (comm)
		comm_copy(p->comm, comm, SIZE_MAX);
	row_follows(&r, PROCESS_SEQ_AT, last);
	*args = row_text(&r, 6);
	read_metrics(&r, PROCESS_METRICS_AT, &d->process_columns, p->value, &p->have);
	return r.err;
}

int row_event(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line)
{
	struct row r = { .d = d, .s = s, .table = "event" };

	row_follows(&r, 2, last);
	*line = row_needed_text(&r, 1);
	return r.err;
}

int row_time(struct database *d, sqlite3_stmt *s, uint64_t *at_ns)
{
	struct row r = { .d = d, .s = s, .table = "sample, process_sample or event" };

	*at_ns = row_needed_count(&r, 0);
	return r.err;
}
