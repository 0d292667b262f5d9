/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A service that follows the agent: its user, rights and calls, which it sets once at its start,
 * and the stream, which it reopens when it ends, until a signal ends the program.
 */
#ifndef BOARD_FOLLOWER_H
#define BOARD_FOLLOWER_H

#include "base/line_stream.h"
#include "base/user.h"
#include "board/board_intake.h"

struct pollfd;

struct follower {
	const char *stream;          /* not owned */
	struct intake intake;        /* owned */
	struct line_stream lines;    /* owned */
	int fd;                      /* owned; -1 while the stream is closed */
	int signals;                 /* a signalfd; not owned */
	uint64_t retry_ns, wait_ns;  /* next attempt to open it; delay before that */
	int64_t clock_ns;            /* from follower_now() to the epoch, at the last tick */
	bool said_rights;            /* warned that the agent shows too little */
	void (*tick)(void *context); /* called about once a second */
	/* waits like poll(2), and returns 0 or a negative errno; NULL: poll(2) */
	int (*wait)(void *context, struct pollfd *fds, unsigned nr, int wait_ms);
	void *context;
};

/* Returns the clock of the board. */
uint64_t follower_now(void);
/*
 * Opens the stream. Returns 0 also if it cannot be opened yet, or a negative errno if it never can
 * be.
 */
int follower_open(struct follower *f);
/* Runs until a signal comes. Returns 0 or a negative errno. */
int follower_run(struct follower *f);
void follower_done(struct follower *f);

/*
 * Finds the user @name to become into @u; @name is empty if the program was not told one, and @u
 * then has no name. Root is refused: without root's rights, which @program drops, it would see no
 * jobs when it opens the stream again. Returns 0 or a negative errno after a message.
 */
int service_choose_user(const char *program, const char *name, struct user *u);
/*
 * Becomes the user, if it has a name, and drops all capabilities. Called once files that only root
 * reads are open. Returns 0 or a negative errno after a message.
 */
int service_drop_rights(const struct user *u);
/* Restricts the program to the system calls of @role; warns if that fails. */
void service_restrict_calls(unsigned role);

#endif
