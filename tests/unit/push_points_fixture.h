/* SPDX-License-Identifier: BSD-2-Clause */
/* A board as bpfmon-push has it, whose jobs are new from a moment on, and the lines of it. */
#ifndef TESTS_UNIT_PUSH_POINTS_FIXTURE_H
#define TESTS_UNIT_PUSH_POINTS_FIXTURE_H

#include "exporter_fixture.h"
#include "push/batch.h"
#include "push/points.h"

#define SEC NSEC_PER_SEC
#define BEGAN (1000 * SEC) /* since the epoch: jobs that start later are new */
#define INTERVAL (15 * SEC)
#define COMMON ",instance=n1,cluster=alpha"
#define JOB(name) "bpfmon_job" COMMON ",job=slurm/" name ",name=" name ",user=alice,kind=slurm"
#define ALICE "bpfmon_user" COMMON ",user=alice,kind=slurm"
#define ENDED "bpfmon_job_ended" COMMON ",user=alice,kind=slurm"

static struct points points;
static struct board_style style;

static inline int push_make(void **state)
{
	struct endpoint *e;

	if (endpoint_make(state) ||
	    points_init(&points, "n1", "cluster=alpha", "all", INTERVAL, DIALECT_INFLUXDB))
		return -1;
	style = (struct board_style){ .put_labels = points_put_labels,
				      .end_job = points_end_job,
				      .context = &points };
	e = *state;
	e->board.style = &style;
	e->board.keep_ns = 0;
	e->board.began_epoch_ns = BEGAN;
	return 0;
}

static inline int push_remove(void **state)
{
	points_done(&points);
	return endpoint_remove(state);
}

#define PUSH_TEST(test) cmocka_unit_test_setup_teardown(test, push_make, push_remove)

static inline const char *lines_at(struct endpoint *e, uint64_t epoch_ns)
{
	e->text.used = 0;
	assert_int_equal(board_prepare(&e->board, e->now_ns), 0);
	points_put_board(&points, &e->text, &e->board, epoch_ns);
	board_count_scrape(&e->board);
	buffer_put(&e->text, "", 1);
	if (e->text.failed || !e->text.text)
		abort();
	return e->text.text;
}

/* The rows of ended jobs; they begin anew. */
static inline const char *rows_of(struct endpoint *e)
{
	e->text.used = 0;
	buffer_put(&e->text, points.rows.text, points.rows.used);
	buffer_put(&e->text, "", 1);
	if (e->text.failed || !e->text.text)
		abort();
	points.rows.used = 0;
	points.nr_rows = 0;
	return e->text.text;
}

static inline void assert_line(const char *text, const char *line)
{
	if (!has_line(text, line))
		fail_msg("no line\n%s\nin\n%s", line, text);
}

static inline void assert_no(const char *text, const char *part)
{
	if (!text || strstr(text, part))
		fail_msg("there is\n%s", part);
}

/* A line of @kind with all metrics, each of another value. */
static inline void tell_all_metrics(struct endpoint *e, const char *kind, const char *run)
{
	struct buffer t = { 0 };

	buffer_printf(&t, "{\"kind\":\"%s\",\"run\":\"run-%s\",\"elapsed_seconds\":30", kind, run);
	for (int i = 0; i < NR_METRICS; i++)
		buffer_printf(&t, ",\"%s\":%d", metric_get((enum metric_id)i)->key, 1000 + i);
	buffer_puts(&t, "}\n");
	buffer_put(&t, "", 1);
	assert_false(t.failed);
	tell(e, t.text);
	buffer_done(&t);
}

static inline void tell_end(struct endpoint *e, const char *name, const char *values)
{
	char line[1024];

	snprintf(line, sizeof(line), "{\"kind\":\"summary\",\"run\":\"run-%s\",%s}\n", name,
		 values);
	tell(e, line);
}

#endif
