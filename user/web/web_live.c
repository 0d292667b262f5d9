// SPDX-License-Identifier: BSD-2-Clause
/* The answer to a page that follows a run: its samples as server-sent events. */
#include "web/web.h"

#include "base/clock.h"
#include "http/http_request.h"
#include "store/node_jobs.h"
#include "web/web_node.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define STREAM_PIECE 16384

struct stream {
	struct web *web;
	struct pulse_client *client;
	int fd; /* of its connection; not owned */
};

static ssize_t stream_send_more(void *context, uint64_t at, char *out, size_t most)
{
	struct stream *s = context;
	ssize_t n = pulse_read(s->client, out, most);

	(void)at;
	/* it takes what it is sent: its request need not end */
	connections_answer(&s->web->connections, s->fd, clock_ns(CLOCK_MONOTONIC));
	return n ? n : MHD_CONTENT_READER_END_OF_STREAM;
}

static void stream_free(void *context)
{
	struct stream *s = context;

	pulse_close(s->client);
	free(s);
}

static struct pulse_client *run_follow(struct web *w, const struct run_ref *ref, uint64_t after_ns,
				       int *err)
{
	struct pulse_client *client = NULL;
	struct stored_run run;
	char *path;

	*err = run_find(&w->store, ref->text, &run, &path);
	if (*err)
		return NULL;
	client = pulse_open(&w->pulse, &(struct pulse_subject){ path, run.id, NULL, -1 }, after_ns);
	stored_run_done(&run);
	free(path);
	return client;
}

/* Its end is in the stream, or it was before that began. */
static struct pulse_client *node_job_follow(struct web *w, const struct run_ref *ref,
					    uint64_t after_ns, int *err)
{
	struct pulse_subject s = { w->agent, 0, ref->text, node_subscribe(w->agent) };
	struct node_job_rows rows = { 0 };

	*err = s.fd < 0 ? s.fd : node_look(w->agent, NULL, &rows, NULL);
	if (!*err && !node_has_job(&rows, ref->text))
		*err = -ENOENT;
	node_jobs_done(&rows);
	if (!*err)
		return pulse_open(&w->pulse, &s, after_ns);
	if (s.fd >= 0)
		close(s.fd);
	return NULL;
}

static struct MHD_Response *stream_answer(struct web *w, struct pulse_client *client,
					  struct MHD_Connection *c)
{
	struct stream *s = calloc(1, sizeof(*s));
	struct MHD_Response *r;

	if (!s) {
		pulse_close(client);
		return NULL;
	}
	*s = (struct stream){ w, client, request_socket(c) };
	r = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_PIECE, stream_send_more, s,
					      stream_free);
	if (!r)
		stream_free(s);
	return r;
}

struct MHD_Response *reply_live(struct web *w, const struct run_ref *ref, struct MHD_Connection *c,
				unsigned *status)
{
	const char *last = request_header(c, "Last-Event-ID"), *after;
	struct MHD_Response *r = NULL;
	struct pulse_client *client;
	uint64_t after_ns;
	int err;

	after = last ? last : MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "after");
	after_ns = after ? strtoull(after, NULL, 10) : 0;
	client = (ref->of_node ? node_job_follow : run_follow)(w, ref, after_ns, &err);
	if (err == -ENOENT && ref->of_node) /* it has ended */
		r = reply_text("event: end\ndata: {}\n\n", MHD_HTTP_OK, status);
	else if (err)
		return reply_text("There is no such run.\n", MHD_HTTP_NOT_FOUND, status);
	else if (client)
		r = stream_answer(w, client, c);
	*status = MHD_HTTP_OK;
	if (r && err)
		MHD_del_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
					"text/plain; charset=utf-8");
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream");
	return r;
}
