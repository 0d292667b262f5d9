// SPDX-License-Identifier: BSD-2-Clause
#include "push/push_target.h"

#include "config/user_files.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define UNIX_PREFIX "unix:"
#define UDP_PREFIX "udp://"
#define WRITE_PATH "/write"
#define METRICS_PATH "/v1/metrics"
#define LOGS_PATH "/v1/logs"

/* Splits HOST:PORT or [HOST]:PORT; 8089 is the port of InfluxDB if there is none. */
static int udp_read(struct target *t, const char *address, char *why, size_t size)
{
	bool is_bracketed = *address == '[';
	size_t length = strcspn(address + is_bracketed, is_bracketed ? "]" : ":");
	const char *rest = address + is_bracketed + length;

	rest += is_bracketed && *rest;
	snprintf(t->udp_host, sizeof(t->udp_host), "%.*s", (int)length, address + is_bracketed);
	snprintf(t->udp_port, sizeof(t->udp_port), "%s", *rest == ':' ? rest + 1 : "8089");
	if (*t->udp_host && strlen(t->udp_port) < 6 && *t->udp_port &&
	    !t->udp_port[strspn(t->udp_port, "0123456789")] && (!*rest || *rest == ':'))
		return 0;
	snprintf(why, size, "url = udp://%s: expected udp://HOST:PORT", address);
	return -EINVAL;
}

/* A URL without a path means the one of InfluxDB 1. */
static void http_read(struct target *t, const char *url)
{
	const char *host = strstr(url, "://") + 3;
	const char *path = host + strcspn(host, "/?");
	size_t query = strcspn(path, "?");
	const char *last = memrchr(path, '/', query);

	if (query <= 1) {
		snprintf(t->url, sizeof(t->url), "%.*s" WRITE_PATH "%s", (int)(path - url), url,
			 path + query);
		last = path;
	} else {
		snprintf(t->url, sizeof(t->url), "%s", url);
		/* /api/v2/write and /influx/write have their /ping at / and /influx */
		if (last && last - path >= 7 && !memcmp(last - 7, "/api/v2", 7))
			last -= 7;
	}
	snprintf(t->ping, sizeof(t->ping), "%.*s/ping", (int)((last ? last : path) - url), url);
}

static void socket_read(struct target *t, const char *url)
{
	url += strlen(UNIX_PREFIX);
	snprintf(t->socket, sizeof(t->socket), "%.*s", (int)strcspn(url, "?"), url);
}

static int url_read(struct target *t, const char *url, char *why, size_t size)
{
	if (!strncmp(url, UDP_PREFIX, strlen(UDP_PREFIX)))
		return udp_read(t, url + strlen(UDP_PREFIX), why, size);
	if (!strncmp(url, UNIX_PREFIX, strlen(UNIX_PREFIX))) {
		socket_read(t, url);
		http_read(t, "http://localhost/");
		snprintf(t->url, sizeof(t->url), "http://localhost" WRITE_PATH "%s",
			 url + strcspn(url, "?"));
		return 0;
	}
	http_read(t, url);
	return 0;
}

/* The URL of the configuration is that of a collector, or of its metrics. */
static void otlp_read_url(struct target *t, const char *url)
{
	const char *query = url + strcspn(url, "?"), *end = query;
	const size_t path = strlen(METRICS_PATH);

	if ((size_t)(end - url) > path && !memcmp(end - path, METRICS_PATH, path))
		end -= path;
	else if (end > url && end[-1] == '/')
		end--;
	snprintf(t->url, sizeof(t->url), "%.*s" METRICS_PATH "%s", (int)(end - url), url, query);
	snprintf(t->logs_url, sizeof(t->logs_url), "%.*s" LOGS_PATH "%s", (int)(end - url), url,
		 query);
}

static int otlp_read_target(struct target *t, const char *url, char *why, size_t size)
{
	if (!strncmp(url, UDP_PREFIX, strlen(UDP_PREFIX))) {
		snprintf(why, size, "url = %s: dialect = otlp needs http:, https: or unix:", url);
		return -EINVAL;
	}
	t->dialect = DIALECT_OTLP;
	if (strncmp(url, UNIX_PREFIX, strlen(UNIX_PREFIX)) != 0) {
		otlp_read_url(t, url);
		return 0;
	}
	socket_read(t, url);
	otlp_read_url(t, "http://localhost");
	return 0;
}

/* A line of the file is a whole value of Authorization, USER:PASSWORD, or a token. */
static int token_read(struct target *t, const char *path, char *why, size_t size)
{
	char text[CONFIG_TEXT_BYTES];
	int err = secret_read(path, text, sizeof(text), why, size);

	if (err)
		return err;
	if (strchr(text, ' '))
		snprintf(t->authorization, sizeof(t->authorization), "Authorization: %s", text);
	else if (strchr(text, ':'))
		snprintf(t->password, sizeof(t->password), "%s", text);
	else
		snprintf(t->authorization, sizeof(t->authorization), "Authorization: %s %s",
			 strstr(t->url, "/api/v2/") ? "Token" : "Bearer", text);
	explicit_bzero(text, sizeof(text));
	return 0;
}

int target_read(struct target *t, const struct agent_config *c, char *why, size_t size)
{
	int err;

	*t = (struct target){ 0 };
	snprintf(t->shown, sizeof(t->shown), "%.*s", (int)strcspn(c->url, "?"), c->url);
	err = strcmp(c->dialect, "otlp") ? url_read(t, c->url, why, size)
					 : otlp_read_target(t, c->url, why, size);
	if (err)
		return err;
	if (!strcmp(c->dialect, "influxdb") || (*t->udp_host && !strcmp(c->dialect, "auto")))
		t->dialect = DIALECT_INFLUXDB;
	else if (!strcmp(c->dialect, "victoriametrics"))
		t->dialect = DIALECT_VICTORIAMETRICS;
	memcpy(t->ca_file, c->ca_file, sizeof(t->ca_file));
	return *c->token_file ? token_read(t, c->token_file, why, size) : 0;
}
