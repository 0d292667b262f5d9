// SPDX-License-Identifier: BSD-2-Clause
#include "web/guard.h"

#include "http/http_request.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

#define REF_BYTES 300

int guard_make_token(struct guard *g)
{
	unsigned char random[TOKEN_BYTES / 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(g->token + 2 * i, 3, "%02x", random[i]);
	return 0;
}

bool guard_is_token(const struct guard *g, const char *text)
{
	unsigned char differs = 0;

	if (!text || strlen(text) != TOKEN_BYTES - 1)
		return false;
	for (size_t i = 0; i < TOKEN_BYTES - 1; i++)
		differs |= (unsigned char)(text[i] ^ g->token[i]);
	return !differs;
}

void guard_cookie_name(const struct guard *g, char *name, size_t size)
{
	snprintf(name, size, "bpfmon-%u", g->port);
}

bool guard_knows_host(const struct guard *g, const char *header)
{
	static const char *const local[] = { "127.0.0.1", "localhost", "[::1]" };
	struct host h;
	char port[16];

	snprintf(port, sizeof(port), "%u", g->port);
	/* the default port of HTTP */
	if (!host_parse(header, &h) || strcmp(h.port ? h.port : "80", port) != 0)
		return false;
	for (size_t i = 0; g->is_localhost && i < sizeof(local) / sizeof(*local); i++)
		if (host_is(&h, local[i]))
			return true;
	for (size_t i = 0; i < g->nr_hosts; i++)
		if (host_is(&h, g->hosts[i]))
			return true;
	return *g->address && host_is(&h, g->address);
}

/* A browser drops blanks from an address, and "//host" leads to another host. */
bool guard_is_own_path(const char *path)
{
	if (path[0] != '/' || path[1] == '/')
		return false;
	for (const char *p = path; *p; p++)
		if (!isalnum((unsigned char)*p) && !strchr("/._-~:", *p))
			return false;
	return true;
}

bool guard_is_own_origin(const char *origin, const char *host)
{
	static const char scheme[] = "http://";

	return origin && host && !strncmp(origin, scheme, sizeof(scheme) - 1) &&
	       !strcasecmp(origin + sizeof(scheme) - 1, host);
}

bool run_ref_is_valid(const char *ref)
{
	const char *colon = strrchr(ref, ':'), *number = colon ? colon + 1 : ref;
	size_t digits = strspn(number, "0123456789");

	if (!digits || number[digits] || digits > 18 || *number == '0' || strlen(ref) > REF_BYTES)
		return false;
	for (const char *p = ref; p < number; p++)
		if (!isalnum((unsigned char)*p) && !strchr("._-~:", *p))
			return false;
	return *ref != '-' && *ref != '~' && *ref != '.' && *ref != ':';
}
