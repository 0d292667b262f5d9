// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/exporter_http.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "config/user_files.h"
#include "exporter/exposition.h"
#include "http/http_door.h"
#include "http/http_request.h"

#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLAIN_TEXT "text/plain; charset=utf-8"
#define TEXTS 8            /* responses being sent, each possibly large */
#define SILENCE_SECONDS 60 /* idle limit of a connection */
#define REQUEST_BYTES (16 << 10)

static uint64_t http_now(void)
{
	return clock_ns(CLOCK_BOOTTIME);
}

/* Returns a response that owns @text; NULL if out of memory. */
static struct MHD_Response *response_take(char *text, size_t length, const char *type)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(length, text, MHD_RESPMEM_MUST_FREE);

	if (!r) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	return r;
}

/* Returns a response with a constant text. */
static struct MHD_Response *response_fixed(const char *text, const char *type)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);

	if (r) {
		MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
		MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
	}
	return r;
}

static struct MHD_Response *http_make_metrics(struct http *h, struct MHD_Connection *c,
					      bool is_scrape)
{
	enum exposition as = exposition_choose(
		MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT));
	struct MHD_Response *r;
	struct buffer t = { 0 };

	pthread_mutex_lock(&h->board->lock);
	if (board_prepare(h->board, http_now()))
		t.failed = true; /* counters of an incomplete text would fall */
	else
		exposition_write(&t, h->board, as);
	if (is_scrape && !t.failed)
		board_count_scrape(h->board);
	pthread_mutex_unlock(&h->board->lock);
	if (t.failed) {
		buffer_done(&t);
		return NULL;
	}
	r = response_take(t.text, t.used, exposition_content_type(as));
	if (r)
		MHD_add_response_header(r, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	return r;
}

/* The page at /, for a browser. */
static const char links[] =
	"<!DOCTYPE html>\n"
	"<html lang=\"en\">\n"
	"<head>\n"
	"<meta charset=\"utf-8\">\n"
	"<meta name=\"viewport\" content=\"width=device-width\">\n"
	"<title>bpfmon-exporter</title>\n"
	"<style>:root{color-scheme:light dark}body{font:16px/1.5 "
	"system-ui,sans-serif;margin:1rem}</style>\n"
	"</head>\n"
	"<body>\n"
	"<main>\n"
	"<h1>bpfmon-exporter</h1>\n"
	"<ul>\n"
	"<li><a href=\"/metrics\">/metrics</a>: metrics of all jobs, for Prometheus</li>\n"
	"<li><a href=\"/-/healthy\">/-/healthy</a>: whether the exporter runs</li>\n"
	"<li><code>bpfmon serve</code>: jobs and runs in a browser; <code>bpfmon top</code>: in a "
	"terminal</li>\n"
	"<li><code>man bpfmon-exporter</code>: its options; <code>bpfmon metrics</code>: what the "
	"metrics mean</li>\n"
	"</ul>\n"
	"</main>\n"
	"</body>\n"
	"</html>\n";

static struct MHD_Response *http_make_links(void)
{
	struct MHD_Response *r = response_fixed(links, "text/html; charset=utf-8");

	if (r)
		MHD_add_response_header(
			r, "Content-Security-Policy",
			"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'");
	return r;
}

/*
 * Rejects DNS rebinding: any site can make its own name resolve to this server and read what its
 * visitors may read. It cannot do so with an IP address, and has no password. A client without a
 * Host header is no browser.
 */
static bool http_accepts_host(const struct http *h, const char *header)
{
	struct host host;

	if (h->passwords.nr || !header)
		return true;
	return host_parse(header, &host) &&
	       (host_is(&host, "localhost") || host_is(&host, h->host) ||
		host_is_of(&host, h->hosts) || host_is_address(&host));
}

static bool http_is_authorized(struct http *h, struct MHD_Connection *c)
{
	char *password = NULL, *user;
	bool may;

	if (!h->passwords.nr)
		return true;
	user = MHD_basic_auth_get_username_password(c, &password);
	may = user && password && passwords_check(&h->passwords, user, password);
	MHD_free(user);
	MHD_free(password);
	if (may)
		connections_trust(&h->connections, request_socket(c));
	return may;
}

static enum MHD_Result http_send(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
	enum MHD_Result result;

	if (!r)
		return MHD_NO; /* out of memory: closes the connection */
	result = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return result;
}

/* Sends an error with an optional header. */
static enum MHD_Result http_refuse(struct MHD_Connection *c, unsigned status, const char *text,
				   const char *header, const char *value)
{
	struct MHD_Response *r = response_fixed(text, PLAIN_TEXT);

	if (r && header)
		MHD_add_response_header(r, header, value);
	return http_send(c, status, r);
}

static enum MHD_Result http_answer(struct http *h, struct MHD_Connection *c, const char *url,
				   bool is_get)
{
	struct MHD_Response *r;

	if (request_has_two_hosts(c))
		return http_refuse(c, MHD_HTTP_BAD_REQUEST, "Duplicate Host header.\n", NULL, NULL);
	if (!http_accepts_host(h, request_header(c, MHD_HTTP_HEADER_HOST)))
		return http_refuse(c, MHD_HTTP_MISDIRECTED_REQUEST,
				   "Unknown host name; see --host of bpfmon-exporter.\n", NULL,
				   NULL);
	if (!http_is_authorized(h, c))
		return http_refuse(c, MHD_HTTP_UNAUTHORIZED, "Authentication required.\n",
				   MHD_HTTP_HEADER_WWW_AUTHENTICATE,
				   "Basic realm=\"bpfmon\", charset=\"UTF-8\"");
	if (!strcmp(url, "/-/healthy"))
		return http_send(c, MHD_HTTP_OK,
				 response_fixed("bpfmon-exporter is healthy.\n", PLAIN_TEXT));
	if (!strcmp(url, "/"))
		return http_send(c, MHD_HTTP_OK, http_make_links());
	if (strcmp(url, "/metrics") != 0)
		return http_refuse(c, MHD_HTTP_NOT_FOUND,
				   "Not found; available are / and /metrics.\n", NULL, NULL);
	r = connections_send(&h->connections, request_socket(c), TEXTS, clock_ns(CLOCK_MONOTONIC))
		    ? http_make_metrics(h, c, is_get)
		    : NULL;
	if (!r)
		return http_refuse(c, MHD_HTTP_SERVICE_UNAVAILABLE,
				   "Too many responses in progress, or out of memory.\n",
				   MHD_HTTP_HEADER_RETRY_AFTER, "1");
	return http_send(c, MHD_HTTP_OK, r);
}

/* Called when the headers are complete, and again when the request is. */
static enum MHD_Result http_handle(void *context, struct MHD_Connection *c, const char *url,
				   const char *method, const char *version, const char *data,
				   size_t *data_size, void **state)
{
	static char headers_seen;
	bool is_get = !strcmp(method, MHD_HTTP_METHOD_GET);

	(void)version;
	(void)data;
	if (!is_get && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return http_refuse(c, MHD_HTTP_METHOD_NOT_ALLOWED,
				   "Method not allowed; use GET or HEAD.\n", MHD_HTTP_HEADER_ALLOW,
				   "GET, HEAD");
	if (!*state) {
		*state = &headers_seen;
		return MHD_YES;
	}
	if (*data_size) { /* ignores the body of a GET */
		*data_size = 0;
		return MHD_YES;
	}
	return http_answer(context, c, url, is_get);
}

static void http_watch(void *context, struct MHD_Connection *c, void **state,
		       enum MHD_ConnectionNotificationCode what)
{
	struct http *h = context;

	(void)state;
	if (what == MHD_CONNECTION_NOTIFY_STARTED)
		connections_begin(&h->connections, request_socket(c));
	else
		connections_close(&h->connections, request_socket(c));
}

static void http_complete(void *context, struct MHD_Connection *c, void **state,
			  enum MHD_RequestTerminationCode how)
{
	struct http *h = context;

	(void)state;
	if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK)
		connections_answer(&h->connections, request_socket(c), clock_ns(CLOCK_MONOTONIC));
}

static void http_log(void *context, const char *format, va_list args)
{
	char text[256];

	(void)context;
	vsnprintf(text, sizeof(text), format, args);
	text[strcspn(text, "\r\n")] = '\0';
	log_info("HTTP: %s", text);
}

/* The door has limited their number. */
static bool http_take(void *context, int fd, const struct sockaddr *from, socklen_t length)
{
	struct http *h = context;

	return MHD_add_connection(h->daemon, fd, from, length) == MHD_YES;
}

int http_start(struct http *h)
{
	const struct MHD_OptionItem tls[] = {
		{ MHD_OPTION_HTTPS_MEM_CERT, 0, h->certificate },
		{ MHD_OPTION_HTTPS_MEM_KEY, 0, h->key },
		{ MHD_OPTION_END, 0, NULL },
	};
	/*
	 * with epoll, 0.9.75 keeps a client that disconnected during its request until the timeout
	 */
	unsigned flags = MHD_USE_POLL_INTERNAL_THREAD | MHD_USE_NO_LISTEN_SOCKET | MHD_USE_ITC |
			 MHD_USE_ERROR_LOG | (h->key ? MHD_USE_TLS : 0);

	h->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, http_handle, h, MHD_OPTION_EXTERNAL_LOGGER, http_log, NULL,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_OF_LIBRARY,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SILENCE_SECONDS,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)REQUEST_BYTES,
		MHD_OPTION_NOTIFY_CONNECTION, http_watch, h, MHD_OPTION_NOTIFY_COMPLETED,
		http_complete, h, MHD_OPTION_ARRAY, h->key ? tls : tls + 2, MHD_OPTION_END);
	if (!h->daemon)
		return -EIO;
	h->door.connections = &h->connections;
	h->door.take = http_take;
	h->door.context = h;
	return door_start(&h->door);
}

void http_tick(struct http *h)
{
	size_t nr = connections_end_slow(&h->connections, clock_ns(CLOCK_MONOTONIC));

	if (nr)
		log_info("closed %zu slow connections", nr);
}

void http_done(struct http *h)
{
	door_stop(&h->door);
	if (h->daemon)
		MHD_stop_daemon(h->daemon);
	door_done(&h->door);
	passwords_done(&h->passwords);
	if (h->key)
		explicit_bzero(h->key, strlen(h->key));
	free(h->key);
	free(h->certificate);
	connections_done(&h->connections);
}

/* What needs rights: the port, and the files with secrets. */

#define PEM_BYTES (1 << 20)

/*
 * Returns the text of a small file, which the caller frees with free(); NULL with the reason in
 * @why.
 */
static char *pem_read(const char *path, bool is_secret, char *why, size_t size)
{
	int fd = is_secret ? secret_open(path, why, size) : open(path, O_RDONLY | O_CLOEXEC);
	__cleanup(fclosep) FILE *f = fd >= 0 ? memory_fdopen(fd, "r") : NULL;
	char *text = f ? memory_calloc(1, PEM_BYTES) : NULL;

	if (fd < 0 && is_secret)
		return NULL;
	if (text && fread(text, 1, PEM_BYTES - 1, f) && !ferror(f))
		return text;
	snprintf(why, size, "cannot read %s: %s", path,
		 f && !errno ? "it is empty" : strerror(errno));
	free(text);
	return NULL;
}

static int http_open_port(struct http *h, const struct exporter_options *o, char *why, size_t size)
{
	struct http_ports ports;
	int err;

	if (!o->listen.is_loopback && (!*o->certificate || !*o->password_file)) {
		snprintf(why, size,
			 "refusing to listen on %s, which other machines can reach, without "
			 "--certificate, --key and --password-file, because job names and users "
			 "are private",
			 o->listen.text);
		return -EPERM;
	}
	err = http_ports_open(&ports, &o->listen, why, size);
	return err ? err : door_init(&h->door, &ports);
}

int http_open(struct http *h, struct board *b, const struct exporter_options *o, char *why,
	      size_t size)
{
	int err = 0;

	*h = (struct http){ .board = b, .door = DOOR_NONE };
	h->hosts = o->hosts;
	connections_init(&h->connections, SCRAPERS, CONNECTION_NO_OWNER);
	if (gethostname(h->host, sizeof(h->host) - 1))
		snprintf(h->host, sizeof(h->host), "this node");
	if (*o->password_file)
		err = passwords_read(&h->passwords, o->password_file, why, size);
	if (!err && *o->certificate) {
		errno = 0;
		h->certificate = pem_read(o->certificate, false, why, size);
		h->key = h->certificate ? pem_read(o->key, true, why, size) : NULL;
		err = h->key ? 0 : -EIO;
	}
	return err ? err : http_open_port(h, o, why, size);
}
