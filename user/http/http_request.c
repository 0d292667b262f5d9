// SPDX-License-Identifier: BSD-2-Clause
#include "http/http_request.h"

#include <microhttpd.h>
#include <stddef.h>
#include <strings.h>

int request_socket(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

const char *request_header(struct MHD_Connection *c, const char *name)
{
	return MHD_lookup_connection_value(c, MHD_HEADER_KIND, name);
}

static enum MHD_Result host_count(void *context, enum MHD_ValueKind kind, const char *name,
				  const char *value)
{
	unsigned *nr = context;

	(void)kind;
	(void)value;
	*nr += !strcasecmp(name, MHD_HTTP_HEADER_HOST);
	return MHD_YES;
}

bool request_has_two_hosts(struct MHD_Connection *c)
{
	unsigned nr = 0;

	MHD_get_connection_values(c, MHD_HEADER_KIND, host_count, &nr);
	return nr > 1;
}
