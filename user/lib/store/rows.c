// SPDX-License-Identifier: BSD-2-Clause
#include "store/rows.h"

#include "store/row_table.h"
#include "store/schema.h"

#include <errno.h>
#include <string.h>

#define BLOCKS_OF_A_LONG_RUN 200 /* the columns of a wide terminal */

/* Appends a SELECT of the columns of @table and of the metrics in @have for one run. */
static void select_put(sqlite3_str *sql, const struct stored_table *table,
		       const struct metric_set *have)
{
	char name[COLUMN_BYTES];

	sqlite3_str_appendall(sql, "SELECT ");
	table_put_names(sql, table);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			sqlite3_str_appendf(sql, ",%s", column_name(name, (enum metric_id)i));
	sqlite3_str_appendf(sql, " FROM %s WHERE run=?1", table->name);
}

/* Prepares the statement @text and frees the text. */
static int select_prepare(struct database *d, int64_t id, sqlite3_str *text, sqlite3_stmt **s)
{
	char *sql = sqlite3_str_finish(text);
	int err = sql ? database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL)) : -ENOMEM;

	sqlite3_free(sql);
	if (!err)
		sqlite3_bind_int64(*s, 1, id);
	return err;
}

static int rows_select(struct database *d, int64_t id, const struct stored_table *table,
		       const struct metric_set *have, sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(d->db);

	select_put(sql, table, have);
	return select_prepare(d, id, sql, s);
}

/* Returns the requested metrics that the file has columns of. */
static struct metric_set columns_choose(const struct metric_set *columns,
					const struct metric_set *only)
{
	struct metric_set both = *columns;

	for (size_t i = 0; only && i < METRIC_WORDS; i++)
		both.bits[i] &= only->bits[i];
	return both;
}

int rows_of_samples(struct database *d, int64_t id, const struct metric_set *only, sqlite3_stmt **s)
{
	const struct metric_set columns = columns_choose(&d->sample_columns, only);

	return rows_select(d, id, &sample_table, &columns, s);
}

static int64_t time_clamp(uint64_t ns)
{
	return ns > INT64_MAX ? INT64_MAX : (int64_t)ns;
}

/* Prepares @sql, which it consumes, with the times of ?2 and ?3. Returns 0 or a negative errno. */
static int select_prepare_between(struct database *d, int64_t id, sqlite3_str *sql,
				  uint64_t from_ns, uint64_t to_ns, sqlite3_stmt **s)
{
	int err = select_prepare(d, id, sql, s);

	if (err)
		return err;
	sqlite3_bind_int64(*s, 2, time_clamp(from_ns));
	sqlite3_bind_int64(*s, 3, time_clamp(to_ns));
	return 0;
}

int rows_of_samples_between(struct database *d, int64_t id, const struct metric_set *only,
			    uint64_t from_ns, uint64_t to_ns, sqlite3_stmt **s)
{
	const struct metric_set columns = columns_choose(&d->sample_columns, only);
	sqlite3_str *sql = sqlite3_str_new(d->db);

	select_put(sql, &sample_table, &columns);
	sqlite3_str_appendall(sql, " AND elapsed_ns BETWEEN (SELECT ifnull(max(elapsed_ns),0) FROM"
				   " sample WHERE run=?1 AND elapsed_ns<=?2) AND ?3");
	return select_prepare_between(d, id, sql, from_ns, to_ns, s);
}

int rows_of_later_samples(struct database *d, int64_t id, uint64_t after_ns, sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(d->db);
	int err;

	select_put(sql, &sample_table, &d->sample_columns);
	sqlite3_str_appendall(sql, " AND elapsed_ns > ?2");
	err = select_prepare(d, id, sql, s);
	if (!err)
		sqlite3_bind_int64(*s, 2, (int64_t)after_ns);
	return err;
}

static int blocks_count(struct database *d, int64_t id, int64_t *nr)
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
	const struct metric_set columns = columns_choose(&d->sample_columns, only);
	sqlite3_str *sql;
	int64_t nr;
	int err = blocks_count(d, id, &nr);

	if (err || nr < BLOCKS_OF_A_LONG_RUN)
		return err ? err : rows_of_samples(d, id, only, s);
	sql = sqlite3_str_new(d->db);
	select_put(sql, &block_table, &columns);
	sqlite3_str_appendall(sql, " UNION ALL "); /* the samples after the last block */
	select_put(sql, &sample_table, &columns);
	sqlite3_str_appendall(sql,
			      " AND elapsed_ns > (SELECT max(elapsed_ns) FROM block WHERE run=?1)");
	return select_prepare(d, id, sql, s);
}

int rows_of_instances(struct database *d, int64_t id, sqlite3_stmt **s)
{
	return rows_select(d, id, &instance_table, &d->instance_columns, s);
}

int rows_of_processes(struct database *d, int64_t id, sqlite3_stmt **s)
{
	return rows_select(d, id, &process_table, &d->process_columns, s);
}

int rows_of_process_samples(struct database *d, int64_t id, uint64_t from_ns, uint64_t to_ns,
			    sqlite3_stmt **s)
{
	sqlite3_str *sql = sqlite3_str_new(d->db);

	select_put(sql, &process_sample_table, &d->process_sample_columns);
	sqlite3_str_appendall(sql, " AND elapsed_ns BETWEEN ?2 AND ?3");
	return select_prepare_between(d, id, sql, from_ns, to_ns, s);
}

int rows_of_events(struct database *d, int64_t id, sqlite3_stmt **s)
{
	static const struct metric_set none;

	return rows_select(d, id, &event_table, &none, s);
}

int rows_of_spans(struct database *d, int64_t id, sqlite3_stmt **s)
{
	static const struct metric_set none;

	return rows_select(d, id, &span_table, &none, s);
}

static void row_read_metrics(struct row *r, int at, const struct metric_set *columns,
			     uint64_t *value, struct metric_set *have)
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
	const struct metric_set columns = columns_choose(&d->sample_columns, only);
	struct row r = { .d = d, .s = s, .table = "sample" };
	struct sample_row row = { 0 };
	int at = row_read(&r, &sample_table, &row);

	sample_reset(smp);
	smp->elapsed_ns = row.elapsed_ns;
	row_read_metrics(&r, at, &columns, smp->value, &smp->have);
	return r.err;
}

int row_instance(struct database *d, sqlite3_stmt *s, struct sample *smp)
{
	struct row r = { .d = d, .s = s, .table = "instance" };
	struct instance_row row = { 0 };
	int at = row_read(&r, &instance_table, &row);
	struct instance *i;

	if (r.err || smp->nr_instances == MAX_INSTANCES)
		return r.err;
	i = sample_add_instance(smp, row.dimension, row.name);
	if (!i)
		return -ENOMEM;
	row_read_metrics(&r, at, &d->instance_columns, i->value, &i->have);
	return r.err;
}

int row_process_sample(struct database *d, sqlite3_stmt *s, struct process_sample *p)
{
	struct row r = { .d = d, .s = s, .table = "process_sample" };
	struct process_sample_row row = { 0 };
	int at = row_read(&r, &process_sample_table, &row);

	*p = row.sample;
	if (row.comm)
		comm_copy(p->comm, row.comm, SIZE_MAX);
	row_read_metrics(&r, at, &d->process_sample_columns, p->value, &p->have);
	return r.err;
}

int row_process(struct database *d, sqlite3_stmt *s, int64_t *last, struct process *p,
		const char **args)
{
	struct row r = { .d = d, .s = s, .table = "process" };
	struct process_row row = { 0 };
	int at = row_read(&r, &process_table, &row);

	row_check_order(&r, row.seq, last);
	*p = row.process;
	*args = row.args;
	p->has_ended = !row.state;
	p->state = row.state ? *row.state : '\0';
	if (row.comm)
		comm_copy(p->comm, row.comm, SIZE_MAX);
	row_read_metrics(&r, at, &d->process_columns, p->value, &p->have);
	return r.err;
}

int row_event(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line)
{
	struct row r = { .d = d, .s = s, .table = "event" };
	struct event_row row = { 0 };

	row_read(&r, &event_table, &row);
	row_check_order(&r, row.seq, last);
	*line = row.line;
	return r.err;
}

int row_span(struct database *d, sqlite3_stmt *s, int64_t *last, const char **line)
{
	struct row r = { .d = d, .s = s, .table = "span" };
	struct span_row row = { 0 };

	row_read(&r, &span_table, &row);
	row_check_order(&r, row.seq, last);
	*line = row.line;
	return r.err;
}

int row_time(struct database *d, sqlite3_stmt *s, uint64_t *at_ns)
{
	struct row r = { .d = d, .s = s, .table = "sample, process_sample or event" };

	*at_ns = row_needed_count(&r, 0); /* the first column of each of these tables */
	return r.err;
}
