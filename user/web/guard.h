/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Which requests are served: those with the token, from a page of ours. A page of another site can
 * make a browser send requests here; a name of its own that leads to loopback is known by the
 * header Host.
 */
#ifndef WEB_GUARD_H
#define WEB_GUARD_H

#include <stdbool.h>
#include <stddef.h>

#define TOKEN_BYTES 49 /* 192 bits in hexadecimal, with the NUL */
#define GUARD_HOSTS 8

struct guard {
	char token[TOKEN_BYTES];
	unsigned port;
	bool is_localhost;              /* it has the port at all that "localhost" may lead to */
	char address[64];               /* where it listens, as in a URL */
	const char *hosts[GUARD_HOSTS]; /* names besides; not owned */
	size_t nr_hosts;
};

/* Draws the token. -EIO: there is no randomness. */
int guard_draw_token(struct guard *g);
/* Whether the two are the same; how long it takes does not depend on where they differ. @text may
 * be NULL. */
bool guard_is_token(const struct guard *g, const char *text);
/* The name of our cookie: browsers send those of all ports of a host. */
void guard_cookie_name(const struct guard *g, char *name, size_t size);
/* Whether the header Host, which may be NULL, names this server. */
bool guard_knows_host(const struct guard *g, const char *header);
/* Whether the path of a request may be given to a browser, to go to on this server. */
bool guard_is_own_path(const char *path);
/* Whether the header Origin is that of a page of ours, which was fetched from @host. */
bool guard_is_own_origin(const char *origin, const char *host);
/* Whether it is a number of `bpfmon list`, or HOST:NUMBER; nothing else of a URL reaches a
 * command line. */
bool run_ref_is_valid(const char *ref);

#endif
