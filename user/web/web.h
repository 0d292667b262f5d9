/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of `bpfmon serve`: its parts, and what each request gets of it. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "cmd/stores.h"
#include "http/connections.h"
#include "web/guard.h"
#include "web/pulse.h"

#include <microhttpd.h>
#include <semaphore.h>
#include <stdatomic.h>

struct web {
	struct guard guard;
	struct store_options store;
	const char *program; /* bpfmon itself, which makes lists, comparisons and exports */
	struct connections connections;
	struct pulse pulse;
	sem_t turns;       /* to make answers */
	atomic_uint flows; /* outputs of children that are being sent */
	struct MHD_Daemon *daemon;
	int fd; /* listens; -1: it is the daemon's, or closed */
};

/* Starts to answer at @w->fd. 0, or -EIO. */
int web_start(struct web *w);

/*
 * Answers, each to be queued with its status by the caller. NULL: without memory, or too many are
 * being made; else @status is set.
 */
struct MHD_Response *reply_text(const char *text, unsigned status, unsigned *result);
struct MHD_Response *reply_list_page(struct web *w, unsigned *status);
struct MHD_Response *reply_run_page(struct web *w, const char *ref, unsigned *status);
struct MHD_Response *reply_formats(unsigned *status);
struct MHD_Response *reply_list(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_comparison(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_export(struct web *w, const char *ref, struct MHD_Connection *c,
				  unsigned *status);
struct MHD_Response *reply_live(struct web *w, const char *ref, struct MHD_Connection *c,
				unsigned *status);
/* @words: what follows `bpfmon edit REF`, up to NULL. */
struct MHD_Response *reply_edit(struct web *w, const char *ref, char *const *words,
				unsigned *status);

/* The run that @ref names, with its store in @path, to be freed; -ENOENT. @r: stored_run_done(). */
int run_find(const struct store_options *store, const char *ref, struct stored_run *r, char **path);

#endif
