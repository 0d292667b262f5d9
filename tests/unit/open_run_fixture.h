/* SPDX-License-Identifier: BSD-2-Clause */
/* A store, and the runs that a recorder of a node writes into it. */
#ifndef TESTS_UNIT_OPEN_RUN_FIXTURE_H
#define TESTS_UNIT_OPEN_RUN_FIXTURE_H

#include "store_fixture.h"
#include "base/clock.h"
#include "agent/recording.h"
#include "run/writer.h"

#define UUID_1 UUID "01"
#define UUID_2 UUID "02"

static struct open_runs runs;
static struct store_writer w;

static inline void begin(const char *path)
{
	assert_int_equal(store_writer_open(&w, path), 0);
	assert_int_equal(open_runs_prepare(&w.d), 0);
	assert_int_equal(store_writer_begin(&w), 0);
}

static inline void commit(void)
{
	store_writer_select(&w, NULL);
	assert_int_equal(store_writer_commit(&w, 0), 0);
	for (struct open_run *run = runs.first; run; run = run->next)
		open_run_settle(run, true);
	assert_int_equal(store_writer_begin(&w), 0);
}

static inline void end(void)
{
	store_writer_undo(&w);
	store_writer_close(&w);
	open_runs_done(&runs);
	assert_int_equal(runs.nr, 0);
	assert_int_equal(runs.nr_ended, 0);
}

static inline struct open_run *run_with_meta(const char *uuid, const char *meta)
{
	struct open_run *run = open_runs_add(&runs, uuid);

	assert_non_null(run);
	run->meta = strdup(meta);
	return run;
}

#endif
