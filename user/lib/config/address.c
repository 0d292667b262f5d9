// SPDX-License-Identifier: BSD-2-Clause
#include "config/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#define ALLOWED "ADDRESS:PORT with a number as address, as 127.0.0.1:9433 or [::1]:9433, or nothing"

static bool port_parse(const char *text, in_port_t *port)
{
	unsigned long v = strtoul(text, NULL, 10);

	if (!*text || strlen(text) > 5 || text[strspn(text, "0123456789")] || !v || v > UINT16_MAX)
		return false;
	*port = htons((uint16_t)v);
	return true;
}

static bool address_v4_parse(const char *host, in_port_t port, struct config_address *out)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&out->address;

	if (inet_pton(AF_INET, strcmp(host, "localhost") ? host : "127.0.0.1", &in->sin_addr) != 1)
		return false;
	in->sin_family = AF_INET;
	in->sin_port = port;
	out->bytes = sizeof(*in);
	out->is_loopback = ntohl(in->sin_addr.s_addr) >> 24 == 127;
	return true;
}

static bool address_v6_parse(const char *host, in_port_t port, struct config_address *out)
{
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&out->address;

	if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
		return false;
	in6->sin6_family = AF_INET6;
	in6->sin6_port = port;
	out->bytes = sizeof(*in6);
	out->is_loopback = IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return true;
}

int config_address_parse(const char *text, struct config_address *out, char *why, size_t size)
{
	struct config_address a = { 0 };
	char host[CONFIG_TEXT_BYTES];
	in_port_t port = 0;
	char *colon;
	bool is_good;

	snprintf(a.text, sizeof(a.text), "%s", text);
	snprintf(host, sizeof(host), "%s", text);
	colon = strrchr(host, ':');
	if (!*text) {
		is_good = true;
	} else if (!colon || !port_parse(colon + 1, &port)) {
		is_good = false;
	} else if (*host == '[' && colon[-1] == ']') {
		colon[-1] = '\0';
		is_good = address_v6_parse(host + 1, port, &a);
	} else {
		*colon = '\0';
		is_good = address_v4_parse(host, port, &a);
	}
	if (!is_good) {
		snprintf(why, size, ALLOWED);
		return -EINVAL;
	}
	*out = a;
	return 0;
}
