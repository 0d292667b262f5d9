// SPDX-License-Identifier: BSD-2-Clause
/* What the HTTP server needs rights for: its port, and the files with its secrets. */
#include "exporter/exporter_http.h"

#include "base/cleanup.h"
#include "config/secret.h"
#include "http/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PEM_BYTES (1 << 20)

/* The text of a small file, to be freed with free(); NULL: @why is why. */
static char *pem_read(const char *path, bool is_secret, char *why, size_t size)
{
	int fd = is_secret ? secret_open(path, why, size) : open(path, O_RDONLY | O_CLOEXEC);
	__cleanup(fclosep) FILE *f = fd >= 0 ? fdopen(fd, "r") : NULL;
	char *text = f ? calloc(1, PEM_BYTES) : NULL;

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
			 "will not listen on %s, which other machines reach, without a "
			 "certificate, its key and a password file: jobs have names and users",
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
	connections_init(&h->connections, SCRAPERS, CONNECTION_NOBODY);
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
