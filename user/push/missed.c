// SPDX-License-Identifier: BSD-2-Clause
#include "push/missed.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "complete-until"
#define NEW_NAME "complete-until.new"
/* A job is reported some time after its end: with many, after several intervals of the agent. */
#define LATE_NS (120 * NSEC_PER_SEC)
#define AGAIN_NS (60 * NSEC_PER_SEC)

static bool row_is_made(const struct missed *m, uint64_t job)
{
	for (size_t i = 0; i < MISSED_ROWS; i++)
		if (m->made[i].job == job)
			return true;
	return false;
}

static void row_note(struct missed *m, uint64_t job, uint64_t epoch_ns)
{
	m->made[m->next].job = job;
	m->made[m->next].epoch_ns = epoch_ns;
	m->next = (m->next + 1) % MISSED_ROWS;
}

/* The first line is the time, each further one a row: the hash and its end. */
static void until_read(struct missed *m, FILE *f)
{
	char line[64], *end;
	uint64_t job;

	if (fgets(line, sizeof(line), f))
		m->until_ns = strtoull(line, NULL, 10);
	while (fgets(line, sizeof(line), f)) {
		job = strtoull(line, &end, 16);
		row_note(m, job, strtoull(end, NULL, 10));
	}
}

void missed_init(struct missed *m, int folder)
{
	int fd = folder < 0 ? -1 : openat(folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	FILE *f = fd < 0 ? NULL : memory_fdopen(fd, "r");

	memset(m, 0, sizeof(*m));
	m->folder = folder;
	m->call = (struct agent_call){ -1, -1 };
	m->lines.most = STREAM_LINE_BYTES;
	m->is_complete = true;
	if (f) {
		until_read(m, f);
		fclose(f);
	} else if (fd >= 0) {
		close(fd);
	}
}

static void missed_end(struct missed *m)
{
	agent_call_done(&m->call);
	line_stream_reset(&m->lines);
	m->has_begun = false;
}

void missed_done(struct missed *m)
{
	missed_end(m);
	line_stream_done(&m->lines);
	line_done(&m->line);
}

void missed_begin(struct missed *m)
{
	missed_end(m);
	m->is_complete = !m->until_ns; /* the first start of all: nothing is missed */
	m->again_ns = 0;
}

static void missed_warn(struct missed *m, const char *why)
{
	if (!m->said_why)
		log_warn("cannot read the history of jobs that ended meanwhile: %s; retrying", why);
	m->said_why = true;
}

void missed_tick(struct missed *m, const char *socket, uint64_t now_ns)
{
	const uint64_t epoch_ns = clock_ns(CLOCK_REALTIME);
	struct history_query q = { .summaries = true, .ended_since_ns = m->until_ns };
	char why[600];

	if (m->is_complete || m->call.stream_fd >= 0 || now_ns < m->again_ns)
		return;
	if (q.ended_since_ns > epoch_ns) /* the clock was set back */
		q.ended_since_ns = epoch_ns - LATE_NS;
	m->again_ns = now_ns + AGAIN_NS;
	m->found = 0;
	if (agent_call_history(&m->call, socket, &q, why, sizeof(why))) {
		missed_warn(m, why);
		m->call = (struct agent_call){ -1, -1 };
		return;
	}
	fcntl(m->call.stream_fd, F_SETFL, O_NONBLOCK);
}

/* The totals of the node, and what is no job, have no rows. */
static bool is_job(const struct job_labels *l)
{
	return strcmp(l->kind, "node") != 0 && strcmp(l->kind, "other") != 0;
}

int missed_end_job(void *context, const struct job_labels *l, const struct ended_values *values,
		   uint64_t epoch_ns)
{
	struct missed *m = context;
	const uint64_t job =
		name_hash_stable(l->job, strlen(l->job), values->value[ENDED_START]) | 1;
	int err;

	if (row_is_made(m, job))
		return 0;
	err = m->end_job(m->context, l, values, epoch_ns);
	if (!err) {
		row_note(m, job, epoch_ns);
		m->found++;
	}
	return err;
}

static void missed_take_summary(struct missed *m)
{
	struct ended_values values;

	if (!m->has_begun || !is_job(&m->begin.labels))
		return;
	ended_read(&values, m->line.tree);
	ended_complete(&values, m->begin.start_epoch_ns, m->begin.bounds.memory_max_bytes);
	missed_end_job(m, &m->begin.labels, &values,
		       m->begin.start_epoch_ns + values.value[ENDED_wall_seconds]);
}

/* The last line of an answer. */
static void missed_take_end(struct missed *m)
{
	const char *error = json_string_value(json_object_get(m->line.tree, "error"));

	if (error) {
		missed_warn(m, error);
		return;
	}
	m->is_complete = true;
	m->said_why = false;
	log_info("found %" PRIu64 " jobs that ended meanwhile", m->found);
}

static void missed_take_line(void *context, const char *text, size_t length)
{
	struct missed *m = context;

	if (!text || line_read(&m->line, text, length))
		return;
	if (m->line.kind == LINE_META) {
		m->has_begun = !run_begin_read(&m->begin, &m->line);
	} else if (m->line.kind == LINE_SUMMARY) {
		missed_take_summary(m);
		m->has_begun = false;
	} else if (m->line.kind == LINE_OTHER) {
		missed_take_end(m);
	}
}

void missed_read(struct missed *m)
{
	int err = line_stream_read(&m->lines, m->call.stream_fd, missed_take_line, m);

	if (err && err != -EAGAIN && err != -EINTR)
		missed_end(m);
}

static bool until_write(const struct missed *m, FILE *f)
{
	fprintf(f, "%" PRIu64 "\n", m->until_ns);
	for (size_t i = 0; i < MISSED_ROWS; i++)
		if (m->made[i].job && m->made[i].epoch_ns >= m->until_ns)
			fprintf(f, "%" PRIx64 " %" PRIu64 "\n", m->made[i].job,
				m->made[i].epoch_ns);
	return !ferror(f);
}

void missed_note(struct missed *m, uint64_t epoch_ns)
{
	bool is_written;
	FILE *f;
	int fd;

	if (m->folder < 0 || epoch_ns < LATE_NS)
		return;
	if (m->is_complete)
		m->until_ns = epoch_ns - LATE_NS;
	fd = openat(m->folder, NEW_NAME, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW,
		    0600);
	f = fd < 0 ? NULL : memory_fdopen(fd, "w");
	if (!f) {
		if (fd >= 0)
			close(fd);
		return;
	}
	is_written = until_write(m, f);
	if (fclose(f) || !is_written || renameat(m->folder, NEW_NAME, m->folder, FILE_NAME))
		log_info("cannot write the file " FILE_NAME ": %s", strerror(errno));
}
