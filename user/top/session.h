/* SPDX-License-Identifier: BSD-2-Clause */
/* A session of top: the terminal, the keys, the stream, the signals, in one loop. */
#ifndef TOP_SESSION_H
#define TOP_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The command line of bpfmon-top, which `bpfmon top` makes of its own. */

#define MAX_STORES 64

struct top_options {
	bool shows_help;
	const char *file; /* NULL: a run of a store, or the list of those that go on */
	const char *stores[MAX_STORES];
	size_t nr_stores;
	int64_t run;       /* of the first store; 0: the list */
	bool is_running;   /* it goes on: its feed is listened to */
	const char *label; /* what to call what is shown; NULL: as it is named itself */
	const char *agent; /* socket; its jobs are in the list; NULL: none */
	const char *job;   /* the one of the agent's that is shown; NULL: none */
	int32_t pid;       /* of the process that is selected first; 0: none */
};

/* Runs the session. Returns the exit status; after a failure one line was printed. */
int session_run(const struct top_options *o);

#endif
