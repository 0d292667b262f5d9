/* SPDX-License-Identifier: BSD-2-Clause */
/* A run of several portions, and a store whose writer something happens to after a commit. */
#ifndef TESTS_UNIT_MERGE_FIXTURE_H
#define TESTS_UNIT_MERGE_FIXTURE_H

#include "store/edit.h"
#include "store/merge.h"
#include "store_fixture.h"

#include <sys/wait.h>

#define OLD_SAMPLES 5500 /* more than a portion: 5000 rows or lines */
#define SAMPLES 6000
#define PROCESSES 5500
#define SPANS 5200
#define DIED 9

#define ROWS                                                                                       \
	"(SELECT run FROM run_text UNION ALL SELECT run FROM tag UNION ALL SELECT run FROM sample" \
	" UNION ALL SELECT run FROM block UNION ALL SELECT run FROM process"                       \
	" UNION ALL SELECT run FROM process_sample UNION ALL SELECT run FROM event"                \
	" UNION ALL SELECT run FROM span UNION ALL SELECT run FROM instance"                       \
	" UNION ALL SELECT run FROM signature)"
#define OF_NO_RUN "SELECT count(*) FROM " ROWS " WHERE run NOT IN (SELECT id FROM run)"

/* What happens after the @at-th commit of a writer. */
struct disturbance {
	const char *path; /* of the store, whose runs somebody removes; NULL: the process dies */
	int commits, at;
};

static inline int disturb(void *context, sqlite3 *db, const char *name, int pages)
{
	struct disturbance *x = context;

	(void)db;
	(void)name;
	(void)pages;
	if (++x->commits != x->at)
		return SQLITE_OK;
	if (!x->path)
		_exit(DIED);
	tell(x->path,
	     "DELETE FROM run; DELETE FROM run_text; DELETE FROM tag; DELETE FROM sample;"
	     "DELETE FROM block; DELETE FROM process; DELETE FROM span; DELETE FROM signature");
	return SQLITE_OK;
}

static inline void put_samples(FILE *f, int samples)
{
	fputs(META_OF("01", "\"schema\":\"bpfmon/1\",\"tags\":{\"sample\":\"A7\"},"), f);
	for (int i = 1; i <= samples; i++)
		fprintf(f, "{\"kind\":\"sample\",\"elapsed_seconds\":%d,\"cpu_seconds\":%d}\n", i,
			i);
}

/* The run as it was known first, cut off; as it was later, cut off after its samples; whole. */
static inline void make_files(const struct place *p)
{
	static const char *const names[] = { "old", "cut", "whole" };
	char path[200];

	for (int i = 0; i < 3; i++) {
		FILE *f;

		snprintf(path, sizeof(path), "%s/%s", p->dir, names[i]);
		f = fopen(path, "we");
		assert_non_null(f);
		put_samples(f, i ? SAMPLES : OLD_SAMPLES);
		for (int n = 0; i && n < SPANS; n++)
			fputs(SPAN("1", "", "a"), f);
		for (int n = 0; i && n < PROCESSES; n++)
			fputs(PROCESS_1, f);
		fputs(i == 2 ? SUMMARY : "", f);
		fclose(f);
	}
}

static inline int merge_into(struct store_writer *w, const char *source)
{
	struct merged m = { 0 };
	struct import i = { .w = w, .merged = &m };
	FILE *f;
	int err;

	if (strstr(source, ".sqlite"))
		return merge_store(&w->d, source, false, store_copy_words, &m);
	f = fopen(source, "re");
	assert_non_null(f);
	err = import_lines(&i, f);
	fclose(f);
	return err;
}

static inline int merge_disturbed(const char *store, const char *source, struct disturbance *x)
{
	struct store_writer w;
	int err;

	assert_int_equal(store_writer_open(&w, store), 0);
	sqlite3_wal_hook(w.d.db, disturb, x);
	err = merge_into(&w, source);
	store_writer_close(&w);
	return err;
}

static inline void merge(const char *store, const char *source)
{
	assert_int_equal(merge_disturbed(store, source, &(struct disturbance){ 0 }), 0);
}

/* Whether the process died of it: there were so many commits. */
static inline bool dies(const char *store, const char *what, int at,
			void (*act)(const char *store, const char *what, struct disturbance *x))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		act(store, what, &(struct disturbance){ .at = at });
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status) == DIED;
}

#endif
