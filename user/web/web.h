/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of `bpfmon serve`: its parts, and what each request gets of it. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "store/stores.h"
#include "http/http_door.h"
#include "web/guard.h"
#include "web/pulse.h"

#include <microhttpd.h>
#include <semaphore.h>
#include <stdatomic.h>

/* A run as an address names it: that was checked. */
struct run_ref {
	bool of_node;
	char text[320]; /* NUMBER or HOST:NUMBER of a store; of the node a UUID */
};

struct web {
	struct guard guard;
	bool is_on_loopback; /* other machines do not reach it */
	struct store_options store;
	const char *agent;   /* the socket of that of the node, which may not be there */
	const char *program; /* bpfmon itself, which makes lists, comparisons and exports */
	struct connections connections;
	struct pulse pulse;
	sem_t turns;       /* to make answers */
	atomic_uint flows; /* outputs of children that are being sent */
	struct MHD_Daemon *daemon;
	struct door door;
};

/* Starts to answer at @w->door. 0, or a negative errno. */
int web_start(struct web *w);

/* Whether it is about the jobs of the node: ?of=node. */
bool request_is_of_node(struct MHD_Connection *c);

/*
 * Answers, each to be queued with its status by the caller. NULL: without memory, or too many are
 * being made; else @status is set.
 */
struct MHD_Response *reply_text(const char *text, unsigned status, unsigned *result);
struct MHD_Response *reply_list_page(struct web *w, unsigned *status);
struct MHD_Response *reply_run_page(struct web *w, const struct run_ref *ref, unsigned *status);
struct MHD_Response *reply_formats(unsigned *status);
struct MHD_Response *reply_list(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_comparison(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_export(struct web *w, const struct run_ref *ref,
				  struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_live(struct web *w, const struct run_ref *ref, struct MHD_Connection *c,
				unsigned *status);
/* @words: what follows `bpfmon edit REF`, up to NULL. */
struct MHD_Response *reply_edit(struct web *w, const char *ref, char *const *words,
				unsigned *status);

/* The words that choose the store for a child, to @words; how many. */
size_t web_put_store(const struct web *w, bool of_node, char **words);
/* Whether the socket of an agent is there. */
bool web_has_agent(const struct web *w);
/* The run that @ref names, with its store in @path, to be freed; -ENOENT. @r: stored_run_done(). */
int run_find(const struct store_options *store, const char *ref, struct stored_run *r, char **path);

#endif
