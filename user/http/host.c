// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_request.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

bool host_parse(const char *header, struct host *h)
{
	const char *from, *colon;
	size_t length;

	if (!header || !*header)
		return false;
	from = *header == '[' ? strchr(header, ']') : header;
	if (!from)
		return false;
	colon = strchr(from, ':');
	length = colon ? (size_t)(colon - header) : strlen(header);
	if (*header == '[' && header[length - 1] != ']')
		return false;
	h->port = colon ? colon + 1 : NULL;
	return length && (size_t)snprintf(h->name, sizeof(h->name), "%.*s", (int)length, header) <
				 sizeof(h->name);
}

bool host_is(const struct host *h, const char *name)
{
	return !strcasecmp(h->name, name);
}

bool host_is_of(const struct host *h, const char *names)
{
	size_t length = strlen(h->name);

	for (const char *at = names + strspn(names, " "); *at; at += strspn(at, " ")) {
		size_t n = strcspn(at, " ");

		if (n == length && !strncasecmp(at, h->name, n))
			return true;
		at += n;
	}
	return false;
}

bool host_is_address(const struct host *h)
{
	char text[HOST_BYTES];
	struct in6_addr any;

	if (*h->name != '[')
		return inet_pton(AF_INET, h->name, &any) == 1;
	snprintf(text, sizeof(text), "%.*s", (int)strlen(h->name) - 2, h->name + 1);
	return inet_pton(AF_INET6, text, &any) == 1;
}
