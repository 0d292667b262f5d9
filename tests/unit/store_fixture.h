/* SPDX-License-Identifier: BSD-2-Clause */
/* A store in a folder of its own, and the lines of a run. */
#ifndef TESTS_UNIT_STORE_FIXTURE_H
#define TESTS_UNIT_STORE_FIXTURE_H

#include "fixture.h"
#include "store/store_writer.h"
#include "store/query.h"

#define UUID "00000000-0000-4000-8000-0000000000"
#define META_OF(nr, more)                                                                          \
	"{\"kind\":\"meta\",\"run\":\"" UUID nr "\",\"command\":[\"make\",\"-j8\"],"               \
	"\"user\":\"ada\",\"uid\":7,\"host\":\"node1\",\"start_time\":10" nr "," more              \
	"\"interval_seconds\":1}\n"
#define RUN META_OF("01", "\"name\":\"align\",\"job\":\"4711\",\"tags\":{\"sample\":\"A7\"},")
#define SAMPLE_1                                                                                   \
	"{\"kind\":\"sample\",\"elapsed_seconds\":1,\"cpu_seconds\":0.5,\"rss_bytes\":4096}\n"
#define SAMPLE_2 "{\"kind\":\"sample\",\"elapsed_seconds\":2,\"cores\":1.5,\"cpu_seconds\":2}\n"
#define PROCESS_SAMPLE(at, pid, rss)                                                               \
	"{\"kind\":\"process_sample\",\"time\":100" at ",\"elapsed_seconds\":" at ",\"pid\":" pid  \
	",\"comm\":\"cc\",\"start_time\":1000.5,\"cpu_seconds\":0.25,"                             \
	"\"rss_bytes\":" rss "}\n"
#define PROCESS_1                                                                                  \
	"{\"kind\":\"process\",\"pid\":5,\"ppid\":1,\"comm\":\"cc\",\"exe\":\"/bin/cc\","          \
	"\"args\":[\"cc\",\"-c\"],\"exit_code\":0,\"signal\":null,\"cpu_seconds\":0.25}\n"
#define SPAN(id, more, name)                                                                       \
	"{\"kind\":\"span\",\"id\":" id "," more "\"name\":\"" name "\",\"tags\":{\"a\":\"b\"},"   \
	"\"pid\":7,\"start_time\":1001.5,\"end_time\":1002.5,\"complete\":true,\"losses\":{},"     \
	"\"exit_code\":3,\"signal\":null,\"wall_seconds\":1.000000001,\"samples\":0,"              \
	"\"processes_total\":2,\"cpu_seconds\":0.25,\"rss_peak_bytes\":4096,"                      \
	"\"rss_peak_upper_bytes\":8192}\n"
#define SUMMARY                                                                                    \
	"{\"kind\":\"summary\",\"complete\":true,\"losses\":{},\"exit_code\":3,\"signal\":null,"   \
	"\"wall_seconds\":2.5,\"processes_total\":1,\"cpu_seconds\":2,\"rss_peak_bytes\":8192}\n"

static inline void put_lines(struct store_writer *w, const char *lines)
{
	for (const char *end; (end = strchr(lines, '\n')); lines = end + 1)
		assert_int_equal(store_writer_put(w, lines, (size_t)(end + 1 - lines)), 0);
}

/* One commit, and the writer is gone. */
static inline void keep(const char *path, const char *lines)
{
	struct store_writer w;

	assert_int_equal(store_writer_open(&w, path), 0);
	assert_int_equal(store_writer_begin(&w), 0);
	put_lines(&w, lines);
	assert_int_equal(store_writer_commit(&w, 0), 0);
	store_writer_close(&w);
}

/* What SQL says of the file, which needs none of our code. */
static inline int64_t ask(const char *path, const char *sql)
{
	sqlite3_stmt *s = NULL;
	sqlite3 *db = NULL;
	int64_t v;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	v = sqlite3_step(s) == SQLITE_ROW ? sqlite3_column_int64(s, 0) : -1;
	sqlite3_finalize(s);
	sqlite3_close(db);
	return v;
}

static inline void tell(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	assert_int_equal(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(db);
}

#endif
