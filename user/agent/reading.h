/* SPDX-License-Identifier: BSD-2-Clause */
/* A process of the historian that answers one client, and ends. */
#ifndef AGENT_READING_H
#define AGENT_READING_H

#include "agent/history.h"

#include <stdbool.h>
#include <sys/types.h>

/* The user of the client that asks, as the kernel reported it to the agent. */
struct reader {
	uid_t uid;
	bool is_admin; /* sees the runs of all users, and those of none */
};

/*
 * Writes the answer to the query @text (run/agent_call.h), which is of unknown origin, to the
 * socket @fd. For a minute at the longest; the store is open for less than that.
 */
void reading_run(const struct history_options *o, const struct reader *who, const char *text,
		 int fd);
/* An answer that is no more than why there is none. */
void reading_refuse(int fd, const char *why);

#endif
