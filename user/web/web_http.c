// SPDX-License-Identifier: BSD-2-Clause
/*
 * The HTTP server: dispatches requests to replies. Each connection has a thread of its own;
 * connections, requests and times are bounded.
 */
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "http/http_request.h"
#include "web/web.h"
#include "store/database_open.h"
#include "web/web_node.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FORM_BYTES 8192 /* limit of a form */
#define FORM_WORDS 128

struct form {
	struct MHD_PostProcessor *reader; /* owned; NULL without a form */
	char text[FORM_BYTES];
	size_t used, nr;
	char *words[FORM_WORDS + 1]; /* --name=..., in @text */
	bool is_bad;                 /* unknown fields, or too much text */
};

static void form_put(struct form *f, const char *option, const char *value, size_t n)
{
	int length = snprintf(f->text + f->used, sizeof(f->text) - f->used, "--%s=%.*s", option,
			      (int)n, value);

	if (f->nr == FORM_WORDS || length < 0 || (size_t)length >= sizeof(f->text) - f->used) {
		f->is_bad = true;
		return;
	}
	f->words[f->nr++] = f->text + f->used;
	f->used += (size_t)length + 1;
}

static void form_append(struct form *f, const char *data, size_t size)
{
	if (!f->nr || f->used + size >= sizeof(f->text)) {
		f->is_bad = true;
		return;
	}
	memcpy(f->text + f->used - 1, data, size);
	f->used += size;
	f->text[f->used - 1] = '\0';
}

/* Callback of the post processor: takes a value, or a further piece of the last one (@at > 0). */
static enum MHD_Result form_take(void *context, enum MHD_ValueKind kind, const char *key,
				 const char *file, const char *type, const char *encoding,
				 const char *data, uint64_t at, size_t size)
{
	struct form *f = context;

	(void)kind, (void)type, (void)encoding;
	if (file || memchr(data, '\0', size) ||
	    (strcmp(key, "name") != 0 && strcmp(key, "note") != 0 && strcmp(key, "tag") != 0))
		f->is_bad = true;
	else if (at)
		form_append(f, data, size);
	else
		form_put(f, key, data, size);
	return MHD_YES;
}

#define SILENCE_SECONDS 30 /* timeout of a connection */
#define REQUEST_BYTES (32 << 10)
#define STACK_BYTES (1 << 20)
#define BUSY 8          /* replies made at once */
#define BUSY_SECONDS 20 /* longest wait of a request for its turn */

/* Takes ownership of the response. */
static enum MHD_Result reply_queue(struct MHD_Connection *c, unsigned status,
				   struct MHD_Response *r)
{
	enum MHD_Result result;

	if (!r) {
		r = reply_text("Too many responses in progress, or out of memory.\n",
			       MHD_HTTP_SERVICE_UNAVAILABLE, &status);
		if (!r)
			return MHD_NO;
		MHD_add_response_header(r, MHD_HTTP_HEADER_RETRY_AFTER, "1");
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	MHD_add_response_header(r, "X-Frame-Options", "DENY");
	MHD_add_response_header(r, "Referrer-Policy", "no-referrer");
	MHD_add_response_header(r, "Cross-Origin-Resource-Policy", "same-origin");
	if (!MHD_get_response_header(r, "Content-Security-Policy"))
		MHD_add_response_header(r, "Content-Security-Policy",
					"default-src 'none'; frame-ancestors 'none'");
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

static enum MHD_Result reply_refusal(struct MHD_Connection *c, unsigned status, const char *text)
{
	struct MHD_Response *r = reply_text(text, status, &status);

	return r ? reply_queue(c, status, r) : MHD_NO;
}

/*
 * Redirects to the page without the token in its address, as addresses are visible in histories and
 * on screens.
 */
static enum MHD_Result reply_token(struct web *w, struct MHD_Connection *c, const char *url)
{
	char name[32], cookie[160];
	unsigned status;
	struct MHD_Response *r = reply_text("", MHD_HTTP_SEE_OTHER, &status);

	if (!r)
		return MHD_NO;
	guard_cookie_name(&w->guard, name, sizeof(name));
	snprintf(cookie, sizeof(cookie), "%s=%s; HttpOnly; SameSite=Strict; Path=/", name,
		 w->guard.token);
	MHD_add_response_header(r, MHD_HTTP_HEADER_SET_COOKIE, cookie);
	MHD_add_response_header(r, MHD_HTTP_HEADER_LOCATION, guard_is_own_path(url) ? url : "/");
	return reply_queue(c, status, r);
}

/* Serves /runs/REF or /node/REF, and paths below. */
static struct MHD_Response *reply_run(struct web *w, struct MHD_Connection *c, bool of_node,
				      const char *url, unsigned *status)
{
	struct run_ref run = { .of_node = of_node };
	size_t length = strcspn(url, "/");
	const char *what = url + length;

	if (length >= sizeof(run.text))
		return reply_text("There is no such run.\n", MHD_HTTP_NOT_FOUND, status);
	snprintf(run.text, sizeof(run.text), "%.*s", (int)length, url);
	if (!(of_node ? job_ref_is_valid : run_ref_is_valid)(run.text))
		return reply_text("There is no such run.\n", MHD_HTTP_NOT_FOUND, status);
	if (!*what)
		return reply_run_page(w, &run, c, status);
	if (!strcmp(what, "/live"))
		return reply_live(w, &run, c, status);
	if (!strcmp(what, "/window"))
		return reply_window(w, &run, c, status);
	if (!strcmp(what, "/export"))
		return reply_export(w, &run, c, status);
	return reply_text("Not found.\n", MHD_HTTP_NOT_FOUND, status);
}

/* Waits for a turn, as making a reply may need a core and much memory. */
static bool turn_take(struct web *w)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += BUSY_SECONDS;
	return !sem_timedwait(&w->turns, &until);
}

static enum MHD_Result reply_get(struct web *w, struct MHD_Connection *c, const char *url)
{
	static const char runs[] = "/runs/", node[] = "/node/";
	unsigned status = MHD_HTTP_OK;
	struct MHD_Response *r;

	if (!turn_take(w))
		return reply_queue(c, 0, NULL);
	if (!strcmp(url, "/"))
		r = reply_list_page(w, c, &status);
	else if (!strcmp(url, "/runs.json"))
		r = reply_list(w, c, &status);
	else if (!strcmp(url, "/formats.json"))
		r = reply_formats(c, &status);
	else if (!strcmp(url, "/sparks.json"))
		r = reply_sparks(w, c, &status);
	else if (!strcmp(url, "/favicon.svg") || !strcmp(url, "/favicon.ico"))
		r = reply_icon(&status);
	else if (!strcmp(url, "/compare"))
		r = reply_comparison(w, c, &status);
	else if (!strncmp(url, runs, sizeof(runs) - 1))
		r = reply_run(w, c, false, url + sizeof(runs) - 1, &status);
	else if (!strncmp(url, node, sizeof(node) - 1))
		r = reply_run(w, c, true, url + sizeof(node) - 1, &status);
	else
		r = reply_text("Not found.\n", MHD_HTTP_NOT_FOUND, &status);
	sem_post(&w->turns);
	return reply_queue(c, status, r);
}

static enum MHD_Result reply_post(struct web *w, struct MHD_Connection *c, const char *url,
				  struct form *f)
{
	unsigned status = MHD_HTTP_BAD_REQUEST;
	struct MHD_Response *r;
	char ref[320] = "";
	int end = 0;

	if (sscanf(url, "/runs/%300[^/]/edit%n", ref, &end) != 1 || !end || url[end] ||
	    !run_ref_is_valid(ref))
		return reply_refusal(c, MHD_HTTP_NOT_FOUND, "Not found.\n");
	if (f->is_bad || !f->nr)
		return reply_refusal(c, status,
				     "The form must have name, note or tags, nothing "
				     "else, and at most 8 KiB.\n");
	f->words[f->nr] = NULL;
	if (!turn_take(w))
		return reply_queue(c, 0, NULL);
	r = reply_edit(w, ref, f->words, &status);
	sem_post(&w->turns);
	return reply_queue(c, status, r);
}

/*
 * Returns true if the request comes from a page of this server or from the address line. Otherwise
 * it was refused or redirected.
 */
static bool request_authorize(struct web *w, struct MHD_Connection *c, const char *url,
			      bool is_post, enum MHD_Result *result)
{
	const char *host = request_header(c, MHD_HTTP_HEADER_HOST);
	const char *origin = request_header(c, MHD_HTTP_HEADER_ORIGIN), *cookie, *token;
	char name[32];

	if (request_has_two_hosts(c))
		*result = reply_refusal(c, MHD_HTTP_BAD_REQUEST, "Duplicate Host header.\n");
	else if (!guard_knows_host(&w->guard, host))
		*result = reply_refusal(c, MHD_HTTP_MISDIRECTED_REQUEST,
					"Unknown host name; see --host of bpfmon serve.\n");
	else if ((origin || is_post) && !guard_is_own_origin(origin, host))
		*result = reply_refusal(c, MHD_HTTP_FORBIDDEN,
					"Requests from other sites are "
					"refused.\n");
	else {
		token = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "token");
		guard_cookie_name(&w->guard, name, sizeof(name));
		cookie = MHD_lookup_connection_value(c, MHD_COOKIE_KIND, name);
		if (!is_post && guard_is_token(&w->guard, token)) {
			*result = reply_token(w, c, url);
		} else if (guard_is_token(&w->guard, cookie)) {
			connections_trust(&w->connections, request_socket(c));
			return true;
		} else {
			*result = reply_refusal(
				c, MHD_HTTP_UNAUTHORIZED,
				"Open the address that bpfmon serve printed; it contains the "
				"token.\n");
		}
	}
	return false;
}

/* Allocates the state of the request, which request_complete() frees. */
static enum MHD_Result request_begin(struct MHD_Connection *c, bool is_post, void **state)
{
	struct form *form = memory_calloc(1, sizeof(*form));

	if (form && is_post)
		form->reader = MHD_create_post_processor(c, 1024, form_take, form);
	if (form && is_post && !form->reader) {
		free(form);
		return reply_refusal(c, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE,
				     "The request is not a "
				     "form.\n");
	}
	*state = form;
	return form ? MHD_YES : MHD_NO;
}

/*
 * Called when the headers are complete, for each piece of a form, and when the request is complete.
 */
static enum MHD_Result request_handle(void *context, struct MHD_Connection *c, const char *url,
				      const char *method, const char *version, const char *data,
				      size_t *data_size, void **state)
{
	bool is_post = !strcmp(method, MHD_HTTP_METHOD_POST);
	struct web *w = context;
	enum MHD_Result result;
	struct form *form;

	(void)version;
	if (!is_post && strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
	    strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply_refusal(c, MHD_HTTP_METHOD_NOT_ALLOWED,
				     "Method not allowed; use GET, "
				     "HEAD or POST.\n");
	if (!*state) {
		if (!request_authorize(w, c, url, is_post, &result))
			return result;
		return request_begin(c, is_post, state);
	}
	form = *state;
	if (*data_size) {
		if (form->reader && MHD_post_process(form->reader, data, *data_size) != MHD_YES)
			form->is_bad = true;
		*data_size = 0;
		return MHD_YES;
	}
	return is_post ? reply_post(w, c, url, form) : reply_get(w, c, url);
}

static void request_watch(void *context, struct MHD_Connection *c, void **state,
			  enum MHD_ConnectionNotificationCode what)
{
	struct web *w = context;

	(void)state;
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		connections_begin(&w->connections, request_socket(c));
	else
		connections_close(&w->connections, request_socket(c));
}

static void request_complete(void *context, struct MHD_Connection *c, void **state,
			     enum MHD_RequestTerminationCode how)
{
	struct web *w = context;
	struct form *form = *state;

	if (form && form->reader)
		MHD_destroy_post_processor(form->reader);
	free(form);
	*state = NULL;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		connections_answer(&w->connections, request_socket(c), clock_ns(CLOCK_MONOTONIC));
}

static void web_log(void *context, const char *format, va_list args)
{
	char text[256];

	(void)context;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\r\n")] = '\0';
	log_info("HTTP: %s", text);
}

/* The door limits the number of connections. */
static bool web_take(void *context, int fd, const struct sockaddr *from, socklen_t length)
{
	struct web *w = context;

	return MHD_add_connection(w->daemon, fd, from, length) == MHD_YES;
}

int web_start(struct web *w)
{
	if (sem_init(&w->turns, 0, BUSY))
		return -errno;
	w->daemon = MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL |
			MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC | MHD_USE_ERROR_LOG,
		0, NULL, NULL, request_handle, w, MHD_OPTION_EXTERNAL_LOGGER, web_log, NULL,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_LIBRARY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)STACK_BYTES, MHD_OPTION_NOTIFY_CONNECTION,
		request_watch, w, MHD_OPTION_NOTIFY_COMPLETED, request_complete, w, MHD_OPTION_END);
	if (!w->daemon)
		return -EIO;
	w->door.connections = &w->connections;
	w->door.take = web_take;
	w->door.context = w;
	return door_start(&w->door);
}
