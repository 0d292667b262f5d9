// SPDX-License-Identifier: BSD-2-Clause
/*
 * Replies with pages made in this process: the list, and the report of a run, which may be running.
 */
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "http/http_request.h"
#include "page/page.h"
#include "page/page_run.h"
#include "store/node_jobs.h"
#include "web/pack.h"
#include "web/web.h"
#include "web/web_node.h"
#include "version.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/*
 * The files of web/assets, embedded in the program. Paths are relative to the folder that make
 * builds in.
 */
#define WEB_ASSET(name, path)                                                                      \
	__asm__(".section .rodata\n"                                                               \
		".global web_" #name ", web_" #name "_end\n"                                       \
		"web_" #name ":\n"                                                                 \
		".incbin \"" path "\"\n"                                                           \
		"web_" #name "_end:\n"                                                             \
		".byte 0\n"                                                                        \
		".previous\n");                                                                    \
	extern const char web_##name[], web_##name##_end[]
#define ASSET_TEXT(name)                                                                           \
	{                                                                                          \
		web_##name, web_##name##_end                                                       \
	}

WEB_ASSET(list_html, "web/list.html");
WEB_ASSET(list_css, "web/list.css");
WEB_ASSET(list_js, "web/list.js");
WEB_ASSET(live_css, "web/live.css");
WEB_ASSET(live_js, "web/live.js");

struct MHD_Response *reply_text(const char *text, unsigned status, unsigned *result)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_MUST_COPY);

	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE,
					"text/plain; charset=utf-8");
	*result = status;
	return r;
}

/* Three bars on a dark square, which are seen on light and dark tabs. */
struct MHD_Response *reply_icon(unsigned *status)
{
	static const char icon[] =
		"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 16 16\">"
		"<rect width=\"16\" height=\"16\" rx=\"3\" fill=\"#1d3557\"/>"
		"<path d=\"M3 13V9h2.6v4zM6.7 13V3h2.6v10zM10.4 13V6H13v7z\" fill=\"#8ecae6\"/>"
		"</svg>\n";
	struct MHD_Response *r = reply_text(icon, MHD_HTTP_OK, status);

	if (!r)
		return NULL;
	MHD_del_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "image/svg+xml");
	return r;
}

/* Takes ownership of @text. */
static struct MHD_Response *page_answer(struct MHD_Connection *c, char *text, size_t length,
					const char *nonce)
{
	struct MHD_Response *r = reply_packed(c, text, length);
	char policy[400];

	if (!r)
		return NULL;
	snprintf(policy, sizeof(policy),
		 "default-src 'none'; script-src 'nonce-%s'; style-src 'nonce-%s'; img-src "
		 "'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors "
		 "'none'",
		 nonce, nonce);
	MHD_add_response_header(r, "Content-Security-Policy", policy);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/html; charset=utf-8");
	return r;
}

/* Writes the members that base.js reads, without a run. */
static void list_data_write(struct jsonw *j)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "version", BPFMON_VERSION);
	jsonw_object(j, "meta");
	jsonw_object_end(j);
	jsonw_object(j, "summary");
	jsonw_uint(j, "wall_seconds", 3600); /* selects the format of times of a long run */
	jsonw_object_end(j);
	jsonw_object(j, "charts");
	jsonw_object_end(j);
	jsonw_object(j, "processes");
	jsonw_array(j, "fields");
	jsonw_array_end(j);
	jsonw_array(j, "rows");
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_object_end(j);
}

struct MHD_Response *reply_list_page(struct web *w, struct MHD_Connection *c, unsigned *status)
{
	char nonce[PAGE_NONCE_BYTES], *text = NULL;
	const struct page_served served = { nonce, ASSET_TEXT(list_css), ASSET_TEXT(list_js) };
	struct jsonw j = { 0 };
	size_t length;
	FILE *f;
	int err = page_make_nonce(nonce);

	(void)w;
	*status = MHD_HTTP_OK;
	f = err ? NULL : memory_open_memstream(&text, &length);
	if (!f)
		return NULL;
	list_data_write(&j);
	err = j.failed ? -ENOMEM
		       : page_write_own(f, "bpfmon runs", (struct page_text)ASSET_TEXT(list_html),
					&j, &served);
	jsonw_done(&j);
	if (!fclose(f) && !err)
		return page_answer(c, text, length, nonce);
	free(text);
	return NULL;
}

static int run_page_write(FILE *f, struct report_run *r, const char *ref, const char *nonce)
{
	const struct page_served served = { nonce, ASSET_TEXT(live_css), ASSET_TEXT(live_js) };
	struct page_data data = { 0 };
	int err = report_write_data(r, ref, &data);

	if (!err)
		err = page_write_served(f, &data, &served);
	jsonw_done(&data.json);
	return err;
}

static int run_page_open(struct web *w, const struct run_ref *ref, struct source *s)
{
	__cleanup(freep) char *path = NULL;
	struct stored_run run = { 0 };
	int err;

	*s = (struct source){ 0 };
	if (ref->of_node)
		return node_open_job(w->agent, ref->text, s);
	err = run_find(&w->store, ref->text, &run, &path);
	if (!err)
		err = source_open_stored(s, path, run.id, run.state);
	stored_run_done(&run);
	return err;
}

static int run_page_read(struct report_run *r, struct web *w, const struct run_ref *ref)
{
	struct source source;
	int err = run_page_open(w, ref, &source);

	if (!err)
		err = report_open(r);
	if (!err)
		err = report_read(r, &source);
	if (err && err != -ENODATA && err != -ENOENT)
		log_warn("cannot read run %s: %s", ref->text, source_why(&source, err));
	source_close(&source);
	return err;
}

static int run_page_make(struct web *w, const struct run_ref *ref, const char *nonce, char **text,
			 size_t *length)
{
	struct report_run *r = memory_calloc(1, sizeof(*r));
	int err = r ? run_page_read(r, w, ref) : -ENOMEM;
	FILE *f = err ? NULL : memory_open_memstream(text, length);

	if (!err)
		err = f ? run_page_write(f, r, ref->text, nonce) : -ENOMEM;
	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (r)
		report_close(r);
	free(r);
	return err;
}

static struct MHD_Response *run_page_refuse(int err, unsigned *status)
{
	if (err == -ENODATA)
		return reply_text("The run has no samples yet: there is nothing to draw.\n",
				  MHD_HTTP_NOT_FOUND, status);
	if (err == -ENOENT)
		return reply_text("There is no such run.\n", MHD_HTTP_NOT_FOUND, status);
	if (err == -ENOMEM)
		return NULL;
	return reply_text("The run cannot be read; see the messages of bpfmon serve.\n",
			  MHD_HTTP_INTERNAL_SERVER_ERROR, status);
}

struct MHD_Response *reply_run_page(struct web *w, const struct run_ref *ref,
				    struct MHD_Connection *c, unsigned *status)
{
	char nonce[PAGE_NONCE_BYTES], *text = NULL;
	size_t length = 0;
	int err = page_make_nonce(nonce);

	*status = MHD_HTTP_OK;
	if (!err)
		err = run_page_make(w, ref, nonce, &text, &length);
	if (!err)
		return page_answer(c, text, length, nonce);
	free(text);
	return run_page_refuse(err, status);
}

/* Reads a time in seconds. Returns false if it is none. */
static bool request_time(struct MHD_Connection *c, const char *key, uint64_t *ns)
{
	const char *text = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, key);
	char *end;
	double seconds = text ? strtod(text, &end) : -1;

	if (!text || !*text || *end || !(seconds >= 0 && seconds < 1e9))
		return false;
	*ns = number_clamp(seconds * 1e9);
	return true;
}

struct MHD_Response *reply_window(struct web *w, const struct run_ref *ref,
				  struct MHD_Connection *c, unsigned *status)
{
	struct MHD_Response *r = NULL;
	uint64_t from_ns, to_ns;
	struct source source;
	struct jsonw j = { 0 };
	int err;

	if (!request_time(c, "from", &from_ns) || !request_time(c, "to", &to_ns) ||
	    from_ns >= to_ns)
		return reply_text("A window needs two times: ?from=60&to=90\n",
				  MHD_HTTP_BAD_REQUEST, status);
	err = run_page_open(w, ref, &source);
	if (!err)
		err = page_window_write(&source, from_ns, to_ns, &j);
	source_close(&source);
	if (!err)
		r = reply_json(c, &j);
	*status = MHD_HTTP_OK;
	jsonw_done(&j);
	return err ? run_page_refuse(err, status) : r;
}

/* The reply to a page of a running run: its samples as server-sent events. */

#define STREAM_PIECE 16384

struct stream {
	struct web *web;
	struct pulse_client *client;
	int fd; /* of the connection; not owned */
};

static ssize_t stream_send_more(void *context, uint64_t at, char *out, size_t most)
{
	struct stream *s = context;
	ssize_t n = pulse_read(s->client, out, most);

	(void)at;
	/* the client reads, so the duration of the request is not limited */
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

/* Subscribes before checking that the job is running, so that its end is not missed. */
static struct pulse_client *node_job_follow(struct web *w, const struct run_ref *ref,
					    uint64_t after_ns, int *err)
{
	struct pulse_subject s = { w->agent, 0, ref->text, node_subscribe(w->agent) };
	struct node_job_rows rows = { 0 };

	*err = s.fd < 0 ? s.fd : node_read_jobs(w->agent, NULL, &rows, NULL);
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
	struct stream *s = memory_calloc(1, sizeof(*s));
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
	if (err == -ENOENT && ref->of_node) /* the job has ended */
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
