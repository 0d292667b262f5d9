/* SPDX-License-Identifier: BSD-2-Clause */
/* A small event loop: descriptors, and a callback for each that is called when it is ready. */
#ifndef BASE_LOOP_H
#define BASE_LOOP_H

#include "base/fd.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop_source {
	int fd;
	/* Called with the events of epoll for @fd. */
	void (*ready)(void *context, uint32_t events);
	void *context;
};

struct loop {
	int fd;                 /* owned; an epoll descriptor */
	struct discard discard; /* of sockets that were waited for */
};

/* 0 or a negative errno. */
int loop_init(struct loop *l);
void loop_done(struct loop *l);
/* From now on waits for @events (EPOLLIN, ...) of @source, which the caller still owns. */
int loop_add(struct loop *l, struct loop_source *source, uint32_t events);
/* From now on waits for @events; 0: only for errors and hang-up. */
int loop_change(struct loop *l, struct loop_source *source, uint32_t events);
/* Before @source is closed or freed: as long as another process has the same file open, the kernel
 * reports it. */
void loop_remove(struct loop *l, struct loop_source *source);
/* Waits until sources are ready, @wait_ms (-1: no limit) have passed or a signal comes; calls those
 * that are ready. 0 or a negative errno. */
int loop_wait(struct loop *l, int wait_ms);

/* The signals that end a long-running program, or reload it, which waits for them beside its work.
 */

/*
 * From here on SIGTERM, SIGINT and SIGHUP, and SIGQUIT if @takes_quit, are read from a descriptor
 * that does not block, which is returned, in all threads that are started later, and SIGPIPE is
 * ignored. Or a negative errno.
 */
int signals_take(bool takes_quit);

#endif
