/* SPDX-License-Identifier: BSD-2-Clause */
/* Follows the stream of the agent until a signal ends the program; opens it again when it ends. */
#ifndef SERVE_FOLLOWER_H
#define SERVE_FOLLOWER_H

#include "serve/intake.h"
#include "serve/stream.h"

struct follower {
	const struct serve_options *options; /* not owned */
	struct intake intake;                /* owned */
	struct line_stream lines;            /* owned */
	int fd;                              /* owned; -1: the stream is not open */
	int signals;                         /* a signalfd; not owned */
	uint64_t retry_ns, wait_ns;  /* when to open it again, and how long it was put off */
	void (*tick)(void *context); /* called about once a second */
	void *context;
};

/* Opens the stream, or says why it cannot be opened yet. A negative errno: it never will be. */
int follower_open(struct follower *f);
/* Returns when a signal has come. 0, or a negative errno. */
int follower_run(struct follower *f);
void follower_done(struct follower *f);

#endif
