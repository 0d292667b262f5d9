// SPDX-License-Identifier: BSD-2-Clause
#include "store/schema.h"

#include "store/row_table.h"

/*
 * The view in which runs have the published units, as samples and processes have them; cpus is what
 * the command could use: the least of the machine, its affinity, its quota. @more: columns that a
 * later step has added. Another view is another text: steps have made this one.
 */
#define RUNS_VIEW(more)                                                                            \
	"CREATE VIEW runs AS WITH described AS"                                                    \
	" (SELECT run, CASE WHEN json_valid(meta) THEN meta END AS meta FROM run_text)"            \
	" SELECT id AS run, uuid, name, job, command, cwd, user, uid, host,"                       \
	" start_time_ns / 1e9 AS start_time, interval_ns / 1e9 AS interval_seconds,"               \
	" ended, complete, exit_code, signal,"                                                     \
	" CASE WHEN ended THEN ifnull(exit_code, 0) > 0 OR ifnull(signal, 0) > 0 END AS failed,"   \
	" wall_ns / 1e9 AS wall_seconds, cpu_ns / 1e9 AS cpu_seconds, rss_peak_bytes, processes,"  \
	" lines_lost,"                                                                             \
	" min(json_extract(meta, '$.system.cpus'),"                                                \
	" ifnull(json_extract(meta, '$.limits.cpus_allowed_count'), 1e9),"                         \
	" ifnull(json_extract(meta, '$.limits.cpu_max_cores'), 1e9)) AS cpus" more                 \
	" FROM run LEFT JOIN described ON described.run = run.id;"

/*
 * A step is never changed once it was released: what comes later is a step of its own. `run` is
 * small, because to list is to read all of it; the lines it was made of are in `run_text`. The
 * tables that are a %s are made of their columns in row_table.c.
 */
static const char *const steps[] = {
	/* 0 -> 1 */
	"PRAGMA application_id=1651533421;"
	"CREATE TABLE run("
	" id INTEGER PRIMARY KEY AUTOINCREMENT," /* not given twice */
	" uuid TEXT NOT NULL UNIQUE,"
	" name TEXT, job TEXT, command TEXT, cwd TEXT, user TEXT, uid INTEGER, host TEXT,"
	" start_time_ns INTEGER NOT NULL, interval_ns INTEGER,"
	" writer TEXT,"          /* the process that records it: others ask whether it lives */
	" seen_time_ns INTEGER," /* when that wrote last */
	" ended INTEGER NOT NULL DEFAULT 0," /* 1: its summary has come */
	" complete INTEGER, exit_code INTEGER, signal INTEGER,"
	" wall_ns INTEGER, cpu_ns INTEGER, rss_peak_bytes INTEGER, processes INTEGER,"
	" lines_lost INTEGER NOT NULL DEFAULT 0);"
	"CREATE INDEX run_name ON run(name);"
	"CREATE TABLE run_text(run INTEGER PRIMARY KEY, meta TEXT NOT NULL, summary TEXT);"
	"CREATE TABLE tag(run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT,"
	" PRIMARY KEY(run, key)) WITHOUT ROWID;"
	"CREATE TABLE sample(run INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
	" PRIMARY KEY(run, elapsed_ns)) WITHOUT ROWID;"
	/* for each so many samples one: gauges are the largest, counters the last */
	"CREATE TABLE block(run INTEGER NOT NULL, elapsed_ns INTEGER NOT NULL,"
	" PRIMARY KEY(run, elapsed_ns)) WITHOUT ROWID;"
	"%s%s"
	/* lines of all other kinds, as they came */
	"CREATE TABLE event(run INTEGER NOT NULL, seq INTEGER NOT NULL, elapsed_ns INTEGER,"
	" kind TEXT, event TEXT, line TEXT,"
	" PRIMARY KEY(run, seq)) WITHOUT ROWID;"
	"PRAGMA user_version=1;",
	/* 1 -> 2: the view of runs */
	RUNS_VIEW("") "PRAGMA user_version=2;",
	/* 2 -> 3: spans, which runs are found by, too; the views are made anew after all steps */
	"%s"
	"CREATE INDEX span_name ON span(run, name);"
	"ALTER TABLE process ADD COLUMN span INTEGER;"
	"PRAGMA user_version=3;",
	/* 3 -> 4: notes, in the view of the second step, too */
	"ALTER TABLE run ADD COLUMN note TEXT;"
	"DROP VIEW IF EXISTS runs;" RUNS_VIEW(", note") "PRAGMA user_version=4;",
	/* 4 -> 5: when name, tags or note were edited last */
	"ALTER TABLE run ADD COLUMN edited_time_ns INTEGER;"
	"DROP VIEW IF EXISTS runs;" RUNS_VIEW(
		", note, edited_time_ns / 1e9 AS edited_time") "PRAGMA user_version=5;",
	/* 5 -> 6: values of instances */
	"%sPRAGMA user_version=6;",
	/* 6 -> 7: signatures of runs; those that are there already get theirs when it is wanted */
	"%sPRAGMA user_version=7;",
	/* 7 -> 8: CPU time of children without a record */
	("ALTER TABLE process ADD COLUMN children_cpu_ns INTEGER;"
	 "PRAGMA user_version=8;"),
	/* 8 -> 9: the memory that a run needed, what it is known from, and whether it is a bound */
	("ALTER TABLE run ADD COLUMN memory_needed_bytes INTEGER;"
	 "ALTER TABLE run ADD COLUMN memory_needed_witness TEXT;"
	 "ALTER TABLE run ADD COLUMN memory_needed_bound TEXT;"
	 "DROP VIEW IF EXISTS runs;" RUNS_VIEW(
		 ", note, edited_time_ns / 1e9 AS edited_time, memory_needed_bytes,"
		 " memory_needed_witness, memory_needed_bound") "PRAGMA user_version=9;"),
};
#define NR_STEPS (sizeof(steps) / sizeof(*steps))

/* The tables that a step has as %s. */
static const struct stored_table *const made[NR_STEPS][2] = {
	[0] = { &process_table, &process_sample_table },
	[2] = { &span_table, NULL },
	[5] = { &instance_table, NULL },
	[6] = { &signature_table, NULL },
};

/* To be freed by sqlite3_free(); NULL without memory. */
static char *create_format(const struct stored_table *t)
{
	sqlite3_str *text = sqlite3_str_new(NULL);

	if (t)
		table_put_create(text, t);
	else
		sqlite3_str_appendchar(text, 1, ' ');
	return sqlite3_str_finish(text);
}

int schema_step(sqlite3 *db, int version)
{
	char *first = create_format(made[version][0]), *second = create_format(made[version][1]);
	char *sql = first && second ? sqlite3_mprintf(steps[version], first, second) : NULL;
	int rc = sql ? sqlite3_exec(db, sql, NULL, NULL, NULL) : SQLITE_NOMEM;

	sqlite3_free(sql);
	sqlite3_free(first);
	sqlite3_free(second);
	return rc;
}
