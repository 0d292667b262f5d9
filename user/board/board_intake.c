// SPDX-License-Identifier: BSD-2-Clause
#include "board/board_intake.h"

#include "run/agent_call.h"
#include "run/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define SOCKET_PREFIX "unix:"
#define AGENT_PREFIX "agent:"

const char *stream_agent_socket(const char *stream)
{
	const size_t length = strlen(AGENT_PREFIX);

	return strncmp(stream, AGENT_PREFIX, length) ? NULL : stream + length;
}

bool stream_is_socket(const char *stream)
{
	return !strncmp(stream, SOCKET_PREFIX, strlen(SOCKET_PREFIX)) ||
	       stream_agent_socket(stream);
}

/* Subscribes to the lines of all jobs that this user may see. */
static int stream_subscribe(const char *path, char *why, size_t size)
{
	struct agent_call call;
	int err = agent_call_node(&call, path, false, why, size), fd;

	if (err)
		return err;
	fd = call.stream_fd;
	call.stream_fd = -1;
	agent_call_done(&call);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static int stream_connect(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(address.sun_path))
		return -ENAMETOOLONG;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&address, sizeof(address)))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

int stream_open(const char *stream, char *why, size_t size)
{
	const char *agent = stream_agent_socket(stream);
	int fd;

	if (agent)
		return stream_subscribe(agent, why, size);
	if (stream_is_socket(stream))
		fd = stream_connect(stream + strlen(SOCKET_PREFIX));
	else if (!strcmp(stream, "-"))
		fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	else
		fd = open(stream, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (fd == -1 && !stream_is_socket(stream))
		fd = -errno;
	if (fd < 0)
		snprintf(why, size, "cannot open the stream %s: %s", stream, strerror(-fd));
	return fd;
}

static const unsigned parts_shown = PART(LINE_META) | PART(LINE_SAMPLE) | PART(LINE_EVENT) |
				    PART(LINE_SUMMARY) | PART(LINE_OTHER);

static void label_read(char *out, size_t size, const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	snprintf(out, size, "%s", text ? text : "");
}

/* Runs that no rule matches share one series, without a user. */
static void labels_read(struct job_labels *l, const json_t *job)
{
	uint64_t uid;

	*l = (struct job_labels){ 0 };
	label_read(l->kind, sizeof(l->kind), job, "kind");
	if (!strcmp(l->kind, "other")) {
		snprintf(l->job, LABEL_BYTES, "other");
		return;
	}
	l->is_nested = json_is_true(json_object_get(job, "nested"));
	label_read(l->job, sizeof(l->job), job, "id");
	label_read(l->name, sizeof(l->name), job, "name");
	label_read(l->user, sizeof(l->user), job, "user");
	label_read(l->namespace, sizeof(l->namespace), job, "namespace");
	label_read(l->pod, sizeof(l->pod), job, "pod");
	label_read(l->container, sizeof(l->container), job, "container");
	label_read(l->account, sizeof(l->account), job, "account");
	label_read(l->partition, sizeof(l->partition), job, "partition");
	if (!*l->user && value_read_number(json_object_get(job, "uid"), 0, &uid))
		snprintf(l->user, LABEL_BYTES, "%" PRIu64, uid);
}

int run_begin_read(struct run_begin *begin, const struct line *meta)
{
	const json_t *job = json_object_get(meta->tree, "node_job"),
		     *limits = json_object_get(meta->tree, "limits");
	int err = line_check_meta(meta);

	if (err || !json_is_object(job))
		return err ? err : -EBADMSG;
	begin->run = json_string_value(json_object_get(meta->tree, "run"));
	begin->start_epoch_ns = meta->start_epoch_ns;
	labels_read(&begin->labels, job);
	begin->interval_ns = member_read_number(meta->tree, "interval_seconds", 9);
	begin->bounds.memory_max_bytes = member_read_number(limits, "memory_max_bytes", 0);
	begin->bounds.cpu_max_milli = member_read_number(limits, "cpu_max_cores", 3);
	begin->bounds.cpu_request_milli = member_read_number(job, "cpu_request_cores", 3);
	return 0;
}

static int intake_begin(struct intake *in, uint64_t now_ns)
{
	struct run_begin begin;
	int err = run_begin_read(&begin, &in->line);

	return err ? err : board_begin_run(in->board, &begin, now_ns);
}

static int intake_note_stall(struct intake *in, const char *run)
{
	const char *event = json_string_value(json_object_get(in->line.tree, "event"));
	bool is_stalled = event && !strcmp(event, "stalled");

	if (!is_stalled && (!event || strcmp(event, "resumed") != 0))
		return 0;
	return board_stall_run(in->board, run, is_stalled);
}

static void agent_read_losses(struct agent_state *a, json_t *losses)
{
	const char *name;
	json_t *v;

	a->nr_losses = 0;
	json_object_foreach(losses, name, v) {
		struct loss_count *l = &a->losses[a->nr_losses];

		if (a->nr_losses == MAX_LOSSES)
			break;
		if (!value_read_number(v, 0, &l->count))
			continue;
		/* cut names could be equal, but labels must be unique */
		if (snprintf(l->name, sizeof(l->name), "%s", name) >= (int)sizeof(l->name))
			continue;
		a->nr_losses++;
	}
}

static void agent_read(struct agent_state *a, const json_t *line)
{
	for (size_t i = 0; i < NR_AGENT_METRICS; i++) {
		const struct agent_metric *m = agent_metric_get(i);

		a->has[i] = value_read_number(json_object_get(line, m->key),
					      metric_unit_decimals(m->unit), &a->value[i]);
	}
	agent_read_losses(a, json_object_get(line, "losses"));
}

void ended_read(struct ended_values *e, const json_t *summary)
{
	*e = (struct ended_values){ 0 };
	for (int i = ENDED_LIMIT + 1; i < NR_ENDED_METRICS; i++) {
		const json_t *v = json_object_get(summary, ended_metrics[i].key);

		e->value[i] = json_is_true(v);
		e->has[i] = json_is_boolean(v) ||
			    value_read_number(v, metric_unit_decimals(ended_metrics[i].unit),
					      &e->value[i]);
	}
}

static int intake_end(struct intake *in, const char *run, uint64_t now_ns)
{
	struct ended_values ended;

	ended_read(&ended, in->line.tree);
	return board_end_run(in->board, run, &in->line.summary.total, &ended, now_ns);
}

static int intake_apply(struct intake *in, uint64_t now_ns)
{
	const struct line *l = &in->line;
	const char *run = json_string_value(json_object_get(l->tree, "run"));
	const char *kind = json_string_value(json_object_get(l->tree, "kind"));

	if (l->kind == LINE_OTHER) {
		if (!strcmp(kind, "agent"))
			agent_read(&in->board->agent, l->tree);
		return 0;
	}
	if (!run)
		return -EBADMSG;
	switch (l->kind) {
	case LINE_META:
		return intake_begin(in, now_ns);
	case LINE_SAMPLE:
		return board_sample_run(in->board, run, &l->sample, now_ns);
	case LINE_EVENT:
		return intake_note_stall(in, run);
	case LINE_SUMMARY:
		return intake_end(in, run, now_ns);
	default:
		return 0;
	}
}

void intake_apply_line(struct intake *in, const char *text, size_t length, uint64_t now_ns)
{
	bool is_needed = line_may_be(text, length, parts_shown);
	int err = is_needed ? line_read(&in->line, text, length) : 0;
	struct board *b = in->board;

	pthread_mutex_lock(&b->lock);
	b->counts.lines++;
	if (!err && is_needed)
		err = intake_apply(in, now_ns);
	if (err)
		b->counts.lines_refused++;
	else
		board_note_line(b, now_ns);
	pthread_mutex_unlock(&b->lock);
}

void intake_refuse(struct intake *in)
{
	pthread_mutex_lock(&in->board->lock);
	in->board->counts.lines++;
	in->board->counts.lines_refused++;
	pthread_mutex_unlock(&in->board->lock);
}

void intake_done(struct intake *in)
{
	line_done(&in->line);
}
