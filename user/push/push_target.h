/* SPDX-License-Identifier: BSD-2-Clause */
/* Where lines, or records of OTLP, are sent: the URL of the configuration and what goes with it. */
#ifndef PUSH_PUSH_TARGET_H
#define PUSH_PUSH_TARGET_H

#include "config/config.h"
#include "push/batch.h"

#include <stdbool.h>
#include <stddef.h>

struct target {
	char shown[CONFIG_TEXT_BYTES];         /* for messages: without the query */
	char url[CONFIG_TEXT_BYTES + 32];      /* for libcurl */
	char logs_url[CONFIG_TEXT_BYTES + 32]; /* of OTLP, for rows; else empty */
	char ping[CONFIG_TEXT_BYTES + 32];     /* asks which database it is */
	char socket[CONFIG_TEXT_BYTES];        /* of a URL with unix:, else empty */
	char udp_host[CONFIG_TEXT_BYTES];      /* of a URL with udp:, else empty */
	char udp_port[8];
	char ca_file[CONFIG_TEXT_BYTES];
	char authorization[CONFIG_TEXT_BYTES * 2]; /* a header, or empty */
	char password[CONFIG_TEXT_BYTES];          /* USER:PASSWORD, or empty */
	enum dialect dialect;
};

/*
 * Reads the section [push] of @c, and the file of its token. Returns 0 or a negative errno with one
 * sentence in @why, without a full stop.
 */
int target_read(struct target *t, const struct agent_config *c, char *why, size_t size);

#endif
