// SPDX-License-Identifier: BSD-2-Clause
#include "push/missed.h"

#include "base/clock.h"
#include "base/fd.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILE_NAME "complete-until"
/* A job is reported some time after its end: with many, after several intervals of the agent. */
#define LATE_NS (120 * NSEC_PER_SEC)

void missed_init(struct missed *m, int folder)
{
	int fd = folder < 0 ? -1 : openat(folder, FILE_NAME, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	char text[32];
	ssize_t n = 0;

	*m = (struct missed){ .folder = folder,
			      .call = { -1, -1 },
			      .lines.most = STREAM_LINE_BYTES };
	if (fd < 0)
		return;
	n = bytes_read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	m->until_ns = strtoull(text, NULL, 10);
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

void missed_ask(struct missed *m, const char *socket)
{
	const struct history_query q = { .summaries = true, .ended_since_ns = m->until_ns };
	char why[600];

	missed_end(m);
	m->found = 0;
	if (!m->until_ns)
		return;
	if (agent_call_history(&m->call, socket, &q, why, sizeof(why))) {
		log_warn("cannot ask the agent for jobs that ended meanwhile: %s", why);
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

static void missed_take_summary(struct missed *m)
{
	struct ended_values values;

	if (!m->has_begun || !is_job(&m->begin.labels))
		return;
	ended_read(&values, m->line.tree);
	ended_complete(&values, m->begin.start_epoch_ns, m->begin.memory_max_bytes);
	m->end_job(m->context, &m->begin.labels, &values,
		   m->begin.start_epoch_ns + values.value[ENDED_wall_seconds]);
	m->found++;
}

static void missed_take_line(void *context, const char *text, size_t length)
{
	struct missed *m = context;
	const char *error;

	if (!text || line_read(&m->line, text, length))
		return;
	if (m->line.kind == LINE_META) {
		m->has_begun = !run_begin_read(&m->begin, &m->line);
	} else if (m->line.kind == LINE_SUMMARY) {
		missed_take_summary(m);
		m->has_begun = false;
	} else if (m->line.kind == LINE_OTHER) {
		error = json_string_value(json_object_get(m->line.tree, "error"));
		if (error)
			log_warn("the agent has no history of jobs that ended meanwhile: %s",
				 error);
		else
			log_info("found %" PRIu64 " jobs that ended meanwhile", m->found);
	}
}

void missed_read(struct missed *m)
{
	int err = line_stream_read(&m->lines, m->call.stream_fd, missed_take_line, m);

	if (err && err != -EAGAIN && err != -EINTR)
		missed_end(m);
}

void missed_note(struct missed *m, uint64_t epoch_ns)
{
	char text[32];
	int fd, n;

	if (m->folder < 0 || m->call.stream_fd >= 0 || epoch_ns < LATE_NS)
		return;
	m->until_ns = epoch_ns - LATE_NS;
	fd = openat(m->folder, FILE_NAME, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return;
	/* always as long: after a crash the file has one of the times */
	n = snprintf(text, sizeof(text), "%020" PRIu64 "\n", m->until_ns);
	if (pwrite(fd, text, (size_t)n, 0) != n)
		log_info("cannot write the file " FILE_NAME ": %s", strerror(errno));
	close(fd);
}
