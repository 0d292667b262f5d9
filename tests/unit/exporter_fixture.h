/* SPDX-License-Identifier: BSD-2-Clause */
/* A board that is fed with lines as the agent writes them, and a clock that the test sets. */
#ifndef TESTS_UNIT_EXPORTER_FIXTURE_H
#define TESTS_UNIT_EXPORTER_FIXTURE_H

#include "base/clock.h"
#include "exporter/exposition.h"
#include "board/board_intake.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEEP_NS (300 * NSEC_PER_SEC)

struct endpoint {
	struct board board;
	struct intake intake;
	uint64_t now_ns;
	struct buffer text; /* of the last scrape; ends with a NUL */
};

static inline int endpoint_make_with(void **state, size_t max_series)
{
	struct endpoint *e = calloc(1, sizeof(*e));

	if (!e)
		return -1;
	board_init(&e->board, &exposition_style, max_series, KEEP_NS);
	e->intake.board = &e->board;
	e->now_ns = 1000 * NSEC_PER_SEC;
	board_connect(&e->board, e->now_ns);
	*state = e;
	return 0;
}

static inline int endpoint_make(void **state)
{
	return endpoint_make_with(state, 1000);
}

static inline int endpoint_make_small(void **state)
{
	return endpoint_make_with(state, 2);
}

static inline int endpoint_remove(void **state)
{
	struct endpoint *e = *state;

	buffer_done(&e->text);
	intake_done(&e->intake);
	board_done(&e->board);
	free(e);
	return 0;
}

#define ENDPOINT_TEST(test) cmocka_unit_test_setup_teardown(test, endpoint_make, endpoint_remove)
#define SMALL_ENDPOINT_TEST(test)                                                                  \
	cmocka_unit_test_setup_teardown(test, endpoint_make_small, endpoint_remove)

static inline void tell(struct endpoint *e, const char *line)
{
	intake_apply_line(&e->intake, line, strlen(line), e->now_ns);
}

/* A job begins; its run is "run-NAME". */
static inline void tell_meta(struct endpoint *e, const char *name, const char *user,
			     const char *kind, const char *start)
{
	char line[4096];

	snprintf(line, sizeof(line),
		 "{\"kind\":\"meta\",\"schema\":\"bpfmon/1\",\"run\":\"run-%s\",\"start_time\":%s,"
		 "\"interval_seconds\":30,\"node_job\":{\"id\":\"%s/"
		 "%s\",\"kind\":\"%s\",\"name\":\"%s\","
		 "\"user\":\"%s\",\"uid\":1000}}\n",
		 name, start, kind, name, kind, name, user);
	tell(e, line);
}

static inline void tell_values(struct endpoint *e, const char *what, const char *name, double cpu,
			       uint64_t rss)
{
	char line[512];

	snprintf(line, sizeof(line),
		 "{\"kind\":\"%s\",\"run\":\"run-%s\",\"elapsed_seconds\":1,\"cpu_seconds\":%g,"
		 "\"rss_bytes\":%" PRIu64 ",\"host_memory_pressure_some_seconds\":1}\n",
		 what, name, cpu, rss);
	tell(e, line);
}

static inline void tell_job(struct endpoint *e, const char *name, double cpu)
{
	tell_meta(e, name, "alice", "slurm", "1.5");
	tell_values(e, "sample", name, cpu, 100);
}

static inline void pass_seconds(struct endpoint *e, uint64_t seconds)
{
	e->now_ns += seconds * NSEC_PER_SEC;
}

static inline const char *scrape_as(struct endpoint *e, enum exposition as)
{
	e->text.used = 0;
	if (board_prepare(&e->board, e->now_ns))
		abort();
	exposition_write(&e->text, &e->board, as);
	board_count_scrape(&e->board);
	buffer_put(&e->text, "", 1);
	if (e->text.failed || !e->text.text)
		abort();
	return e->text.text;
}

static inline const char *scrape(struct endpoint *e)
{
	return scrape_as(e, EXPOSITION_OPENMETRICS);
}

/* Whether the text has that line. */
static inline bool has_line(const char *text, const char *line)
{
	size_t n = strlen(line);

	for (const char *at = text; (at = strstr(at, line)); at += n)
		if ((at == text || at[-1] == '\n') && at[n] == '\n')
			return true;
	return false;
}

#endif
