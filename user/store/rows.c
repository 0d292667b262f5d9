// SPDX-License-Identifier: BSD-2-Clause
#include "store/rows.h"

#include "store/column.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order of row_process(). */
static const char process_columns[] =
	"pid, ns_pid, ppid, uid, comm, exe, args, args_cut, lossy, start_time_ns, joined_time_ns,"
	" left_time_ns, end_time_ns, exit_code, signal, state, threads_total, execs,"
	" rss_peak_bytes, rss_peak_exact";
#define PROCESS_METRICS_AT 20

/* SELECT @fixed and the columns of metrics that the file has, of one run. */
static int prepare(struct database *d, int64_t id, const char *table, const char *fixed,
		   const struct metric_set *have, sqlite3_stmt **s)
{
	char name[COLUMN_BYTES], *sql = NULL;
	size_t length;
	FILE *f = open_memstream(&sql, &length);
	int err;

	if (!f)
		return -ENOMEM;
	fprintf(f, "SELECT %s", fixed);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_has(have, (enum metric_id)i))
			fprintf(f, ",%s", column_name(name, (enum metric_id)i));
	fprintf(f, " FROM %s WHERE run=?1", table);
	if (fclose(f)) {
		free(sql);
		return -ENOMEM;
	}
	err = database_error(d, sqlite3_prepare_v2(d->db, sql, -1, s, NULL));
	free(sql);
	if (!err)
		sqlite3_bind_int64(*s, 1, id);
	return err;
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

	return prepare(d, id, "sample", "elapsed_ns", &columns, s);
}

int rows_of_processes(struct database *d, int64_t id, sqlite3_stmt **s)
{
	return prepare(d, id, "process", process_columns, &d->process_columns, s);
}

int rows_of_events(struct database *d, int64_t id, sqlite3_stmt **s)
{
	static const struct metric_set none;

	return prepare(d, id, "event", "elapsed_ns, line", &none, s);
}

static void read_metrics(sqlite3_stmt *s, int at, const struct metric_set *columns, uint64_t *value,
			 struct metric_set *have)
{
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(columns, (enum metric_id)i))
			continue;
		if (sqlite3_column_type(s, at) != SQLITE_NULL) {
			value[i] = (uint64_t)sqlite3_column_int64(s, at);
			metric_put(have, (enum metric_id)i);
		}
		at++;
	}
}

void row_sample(const struct database *d, const struct metric_set *only, sqlite3_stmt *s,
		struct sample *smp)
{
	const struct metric_set columns = wanted(&d->sample_columns, only);

	sample_reset(smp);
	smp->elapsed_ns = (uint64_t)sqlite3_column_int64(s, 0);
	read_metrics(s, 1, &columns, smp->value, &smp->have);
}

static const char *text_at(sqlite3_stmt *s, int at)
{
	return (const char *)sqlite3_column_text(s, at);
}

static uint64_t time_at(sqlite3_stmt *s, int at)
{
	return (uint64_t)sqlite3_column_int64(s, at);
}

void row_process(const struct database *d, sqlite3_stmt *s, struct process *p, const char **args)
{
	const char *comm = text_at(s, 4), *state = text_at(s, 15);

	*p = (struct process){
		.pid = sqlite3_column_int(s, 0),
		.ns_pid = sqlite3_column_int(s, 1),
		.ppid = sqlite3_column_int(s, 2),
		.uid = (uint32_t)sqlite3_column_int64(s, 3),
		.exe = text_at(s, 5),
		.args_cut = sqlite3_column_int(s, 7),
		.lossy = sqlite3_column_int(s, 8),
		.start_epoch_ns = time_at(s, 9),
		.joined_epoch_ns = time_at(s, 10),
		.left_epoch_ns = time_at(s, 11),
		.end_epoch_ns = time_at(s, 12),
		.has_ended = !state,
		.exit_code = sqlite3_column_int(s, 13),
		.signal = sqlite3_column_int(s, 14),
		.state = state ? *state : '\0',
		.threads_total = (uint32_t)sqlite3_column_int64(s, 16),
		.execs = (uint32_t)sqlite3_column_int64(s, 17),
		.has_rss_peak = sqlite3_column_type(s, 18) != SQLITE_NULL,
		.rss_peak_bytes = (uint64_t)sqlite3_column_int64(s, 18),
		.rss_peak_exact = sqlite3_column_int(s, 19),
	};
	if (comm)
		memcpy(p->comm, comm, strnlen(comm, sizeof(p->comm)));
	*args = text_at(s, 6);
	read_metrics(s, PROCESS_METRICS_AT, &d->process_columns, p->value, &p->have);
}
