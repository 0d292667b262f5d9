/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The historian: keeps the jobs of the node and the runs of its users in a store. It is a child
 * that the agent forks before it uses any right, with its own user, no capability, and two sockets.
 * The agent never opens the store and never waits for it.
 */
#ifndef AGENT_HISTORY_H
#define AGENT_HISTORY_H

#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <sys/types.h>

struct history_options {
	const char *store;  /* an absolute path, in a folder of its own */
	const char *socket; /* of the agent: its folder must remain root's */
	uint64_t keep_ns;   /* age at which ended runs are removed */
	uint64_t keep_bytes;
	uint64_t min_ns; /* shorter runs are not stored */
};

/* The agent's ends of the sockets; owned. */
struct history {
	int stream_fd;  /* receives the lines of the node's stream */
	int control_fd; /* packets of base/message.h */
};

/*
 * Starts the historian. The strings of @o must live as long as this process. The caller has no
 * threads, and is root or may write to the store. Returns 0, or a negative errno with a sentence
 * without a full stop in @why.
 */
int history_start(const struct history_options *o, struct history *h, char *why, size_t size);
/* Ends the stream and waits until the rest is stored, for a few seconds at most. */
void history_end(struct history *h);

/* A child of the historian that answers the query of one client and exits. */

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
