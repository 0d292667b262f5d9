/* SPDX-License-Identifier: BSD-2-Clause */
/* A small event loop: descriptors, and what is called when one is ready. */
#ifndef COLLECT_LOOP_H
#define COLLECT_LOOP_H

#include <stddef.h>
#include <stdint.h>

struct loop_source {
	int fd;
	/* Called with what epoll says of @fd. */
	void (*ready)(void *context, uint32_t events);
	void *context;
};

struct loop {
	int fd; /* owned; an epoll descriptor */
};

/* A negative errno. */
int loop_init(struct loop *l);
void loop_done(struct loop *l);
/* From now on waits for @events (EPOLLIN, ...) of the source, which stays the caller's. */
int loop_add(struct loop *l, struct loop_source *source, uint32_t events);
/* Other events from now on; 0: only that the other side is gone. */
int loop_change(struct loop *l, struct loop_source *source, uint32_t events);
void loop_remove(struct loop *l, struct loop_source *source);
/* Waits until sources are ready, @wait_ms (-1: for ever) or a signal, and calls them. A negative
 * errno. */
int loop_wait(struct loop *l, int wait_ms);

#endif
