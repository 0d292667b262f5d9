/* SPDX-License-Identifier: BSD-2-Clause */
/* A child of the historian that answers the query of one client and exits. */
#ifndef AGENT_READING_H
#define AGENT_READING_H

#include "agent/history.h"

#include <stdbool.h>
#include <sys/types.h>

/* The user of the client, as the kernel reported it to the agent. */
struct reader {
	uid_t uid;
	bool is_admin; /* sees the runs of all users, and those without a user */
};

/*
 * Writes the answer to the untrusted query @text (run/agent_call.h) to the socket @fd. Takes a
 * minute at most; the store is open for less than that.
 */
void reading_run(const struct history_options *o, const struct reader *reader, const char *text,
		 int fd);
/* Writes an answer that consists of the error @why only. */
void reading_refuse(int fd, const char *why);

#endif
