/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decides which requests are served: those with the token, from a page of this server. A page of
 * another site can make a browser send requests here (checked by Origin), even by a name of its own
 * that resolves to loopback (checked by Host).
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
	bool is_localhost; /* holds the port at all addresses to which "localhost" may resolve */
	char address[64];  /* listening address as in a URL */
	const char *hosts[GUARD_HOSTS]; /* further names; not owned */
	size_t nr_hosts;
};

/* Draws the token. Returns 0, or -EIO without randomness. */
int guard_make_token(struct guard *g);
/* Compares @text, which may be NULL, with the token in constant time. */
bool guard_is_token(const struct guard *g, const char *text);
/*
 * Formats the name of the cookie. It contains the port, because browsers send the cookies of all
 * ports of a host.
 */
void guard_cookie_name(const struct guard *g, char *name, size_t size);
/* Returns true if the header Host, which may be NULL, names this server. */
bool guard_knows_host(const struct guard *g, const char *header);
/* Returns true if a browser may be redirected to the path of a request. */
bool guard_is_own_path(const char *path);
/* Returns true if the header Origin is that of a page fetched from @host. */
bool guard_is_own_origin(const char *origin, const char *host);
/*
 * Returns true for a run id of `bpfmon list` or HOST:NUMBER. Nothing else of a URL reaches a
 * command line.
 */
bool run_ref_is_valid(const char *ref);

#endif
