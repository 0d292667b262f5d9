// SPDX-License-Identifier: BSD-2-Clause
#include "run/agent_call.h"

#include "base/agent_socket.h"
#include "base/clock.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "base/message.h"
#include "base/number.h"
#include "run/request.h"
#include "run/tree.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#define PATIENCE_MS (AGENT_PATIENCE_SECONDS * 1000)

static int answer_take(int fd, char *why, size_t size)
{
	struct control answer;
	int got = control_receive(fd, &answer);

	if (got == 1 && answer.type == CONTROL_READY)
		return 0;
	if (got == 1 && answer.type == CONTROL_FAILED) {
		snprintf(why, size, "%s", answer.text);
		return answer.value < 0 ? answer.value : -EIO;
	}
	if (got == -EAGAIN || got == -EWOULDBLOCK) {
		snprintf(why, size, AGENT_HANGS);
		return -ETIMEDOUT;
	}
	snprintf(why, size, "the agent has closed the connection");
	return got < 0 ? got : -ECONNRESET;
}

static int stream_request(int control_fd, int stream_fd, struct request *r)
{
	struct jsonw j = { 0 };

	r->interval_ns = NSEC_PER_SEC;
	r->stream_fd = stream_fd;
	request_write(&j, r);
	return message_send_json(control_fd, CONTROL_REQUEST, &j, &stream_fd, 1, PATIENCE_MS);
}

int agent_call_answer(struct agent_call *c, char *why, size_t size)
{
	int err = answer_take(c->control_fd, why, size);

	if (err)
		agent_call_done(c);
	return err;
}

static int agent_call_begin(struct agent_call *c, const char *path, struct request *r, char *why,
			    size_t size)
{
	static const struct timeval patience = { .tv_sec = AGENT_PATIENCE_SECONDS };
	int ends[2], err;

	c->stream_fd = -1;
	c->control_fd = agent_socket_connect(path, why, size);
	if (c->control_fd < 0)
		return c->control_fd;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends)) {
		err = -errno;
		snprintf(why, size, "cannot make a socket: %s", strerror(-err));
		agent_call_done(c);
		return err;
	}
	setsockopt(c->control_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	c->stream_fd = ends[0];
	if (r->once) /* the agent sends everything at once */
		setsockopt(c->stream_fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	err = stream_request(c->control_fd, ends[1], r);
	close(ends[1]);
	if (err) {
		snprintf(why, size, "cannot ask the agent: %s", strerror(-err));
		agent_call_done(c);
	}
	return err;
}

static int agent_call(struct agent_call *c, const char *path, struct request *r, char *why,
		      size_t size)
{
	int err = agent_call_begin(c, path, r, why, size);

	return err ? err : agent_call_answer(c, why, size);
}

int agent_call_node(struct agent_call *c, const char *path, bool once, char *why, size_t size)
{
	struct request r;

	request_init(&r);
	r.follow = FOLLOW_NODE;
	r.once = once;
	return agent_call(c, path, &r, why, size);
}

int agent_call_status(struct agent_call *c, const char *path, char *why, size_t size)
{
	struct request r;

	request_init(&r);
	r.follow = FOLLOW_AGENT;
	r.once = true;
	return agent_call(c, path, &r, why, size);
}

int agent_call_begin_node(struct agent_call *c, const char *path, char *why, size_t size)
{
	struct request r;

	request_init(&r);
	r.follow = FOLLOW_NODE;
	return agent_call_begin(c, path, &r, why, size);
}

int agent_call_begin_job(struct agent_call *c, const char *path, const char *id, char *why,
			 size_t size)
{
	struct request r;

	request_init(&r);
	r.follow = FOLLOW_JOB;
	r.processes = true;
	if (snprintf(r.job, sizeof(r.job), "%s", id) < (int)sizeof(r.job))
		return agent_call_begin(c, path, &r, why, size);
	snprintf(why, size, "the job's name is too long");
	return -E2BIG;
}

int agent_call_history(struct agent_call *c, const char *path, const struct history_query *q,
		       char *why, size_t size)
{
	struct jsonw j = { 0 };
	struct request r;
	bool fits;

	request_init(&r);
	r.follow = FOLLOW_HISTORY;
	history_query_write(&j, q);
	fits = !j.failed && j.used < sizeof(r.job);
	if (fits)
		memcpy(r.job, j.text, j.used);
	jsonw_done(&j);
	if (fits)
		return agent_call(c, path, &r, why, size);
	snprintf(why, size, "the filters are too long for a query to the agent");
	return -E2BIG;
}

void agent_call_done(struct agent_call *c)
{
	if (c->control_fd >= 0)
		close(c->control_fd);
	if (c->stream_fd >= 0)
		close(c->stream_fd);
	c->control_fd = c->stream_fd = -1;
}

#define MOST_STATES 4

static const struct field fields[] = {
	FIELD_BOOL_OF(history_query, lines),
	FIELD_BOOL_OF(history_query, summaries),
	FIELD_U64_OF(history_query, id, INT64_MAX),
	FIELD_TEXT_OF(history_query, uuid),
	FIELD_TEXT_OF(history_query, name),
	FIELD_TEXT_OF(history_query, exact_name),
	FIELD_TEXT_OF(history_query, job),
	FIELD_TEXT_OF(history_query, user),
	FIELD_TEXT_OF(history_query, host),
	FIELD_TEXT_OF(history_query, command),
	FIELD_TEXT_OF(history_query, span),
	FIELD_U32_OF(history_query, state, MOST_STATES),
	FIELD_U64_OF(history_query, since_ns, INT64_MAX),
	FIELD_U64_OF(history_query, ended_since_ns, INT64_MAX),
	{ .key = NULL },
};

void history_query_write(struct jsonw *j, const struct history_query *q)
{
	jsonw_object(j, NULL);
	fields_write(j, fields, q);
	jsonw_object_end(j);
}

int history_query_read(struct history_query *q, const char *text, size_t length, char *why,
		       size_t size)
{
	static const char *const no_others[] = { NULL };
	size_t failures = memory_failures_of_thread();
	json_t *o = jansson_loadb(text, length, JSON_REJECT_DUPLICATES, NULL);
	int err = -EBADMSG;

	memset(q, 0, sizeof(*q));
	snprintf(why, size, "it is not a JSON object");
	if (json_is_object(o))
		err = fields_read(o, fields, no_others, q, why, size);
	json_decref(o);
	return memory_failures_of_thread() > failures ? -ENOMEM : err;
}
