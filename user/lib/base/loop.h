/* SPDX-License-Identifier: BSD-2-Clause */
/* A small event loop: calls the callback of each descriptor that is ready. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include "base/fd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop_source {
	int fd;
	/* Called with the epoll events of @fd. */
	void (*ready)(void *context, uint32_t events);
	void *context;
};

struct loop {
	int fd;                 /* owned; an epoll descriptor */
	struct discard discard; /* for sockets that were in the loop */
};

int loop_init(struct loop *l);
void loop_done(struct loop *l);
/* Starts waiting for @events (EPOLLIN, ...) of @source, which stays the caller's. */
int loop_add(struct loop *l, struct loop_source *source, uint32_t events);
/* Changes the events of @source; 0: only errors and hang-up. */
int loop_change(struct loop *l, struct loop_source *source, uint32_t events);
/*
 * Must be called before @source is closed or freed: if another process has the same file open, the
 * kernel goes on reporting it.
 */
void loop_remove(struct loop *l, struct loop_source *source);
/*
 * Waits until a source is ready, @wait_ms have passed (-1: no limit) or a signal arrives, and calls
 * the ready sources. Returns 0 or a negative errno.
 */
int loop_wait(struct loop *l, int wait_ms);

/*
 * For long-running programs: makes SIGTERM, SIGINT, SIGHUP, and SIGQUIT if @takes_quit, readable
 * from a descriptor that does not block, for all threads started later; ignores SIGPIPE. Returns
 * the descriptor or a negative errno.
 */
int signals_take(bool takes_quit);
/* For a child before it executes another program: no signal is ignored or blocked. */
void signals_reset(void);

#endif
