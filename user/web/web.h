/* SPDX-License-Identifier: BSD-2-Clause */
/* The server of `bpfmon serve`: its parts, and the replies to requests. */
#ifndef WEB_WEB_H
#define WEB_WEB_H

#include "store/database.h"
#include "store/stores.h"
#include "http/http_door.h"
#include "web/guard.h"
#include "web/pulse.h"

#include <microhttpd.h>
#include <semaphore.h>
#include <stdatomic.h>

/* A run of a URL, after validation. */
struct run_ref {
	bool of_node;
	char text[320]; /* NUMBER or HOST:NUMBER in a store, or a UUID of the node */
};

struct web {
	struct guard guard;
	bool is_on_loopback; /* not reachable by other machines */
	struct store_options store;
	const char *agent;   /* socket of the agent of the node, which may not exist */
	const char *program; /* path of bpfmon, which makes lists, comparisons and exports */
	struct connections connections;
	struct pulse pulse;
	sem_t turns;       /* limits replies made at once */
	atomic_uint flows; /* outputs of children being sent */
	struct MHD_Daemon *daemon;
	struct door door;
};

/* Starts to answer at @w->door. Returns 0 or a negative errno. */
int web_start(struct web *w);

/* Returns true for a request about jobs of the node (?of=node). */
bool request_is_of_node(struct MHD_Connection *c);

/*
 * Make a reply, and set its status. The caller queues it. Return NULL without memory, or if too
 * many replies are being made.
 */
struct MHD_Response *reply_text(const char *text, unsigned status, unsigned *result);
struct MHD_Response *reply_list_page(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_run_page(struct web *w, const struct run_ref *ref,
				    struct MHD_Connection *c, unsigned *status);
/* Replies with the charts of the run from ?from= to ?to=, in seconds since its start. */
struct MHD_Response *reply_window(struct web *w, const struct run_ref *ref,
				  struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_formats(struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_icon(unsigned *status);
/* The small curves of the list, for the runs of the request. */
struct MHD_Response *reply_sparks(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_list(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_comparison(struct web *w, struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_export(struct web *w, const struct run_ref *ref,
				  struct MHD_Connection *c, unsigned *status);
struct MHD_Response *reply_live(struct web *w, const struct run_ref *ref, struct MHD_Connection *c,
				unsigned *status);
/* @words are NULL-terminated arguments of `bpfmon edit REF`. */
struct MHD_Response *reply_edit(struct web *w, const char *ref, char *const *words,
				unsigned *status);

/* Stores the options that select the store for a child in @words. Returns their number. */
size_t web_put_store(const struct web *w, bool of_node, char **words);
bool web_has_agent(const struct web *w);
/* Finds several runs, one after the other. */
struct run_finder {
	struct stores stores;
	struct database database; /* of the store @open; SIZE_MAX: none */
	size_t open;
};

/* Returns 0, or a negative errno after which nothing is to be freed. */
int run_finder_begin(struct run_finder *f, const struct store_options *store);
/* Like run_find(), but @path is valid until run_finder_done(). */
int run_finder_find(struct run_finder *f, const char *ref, struct stored_run *r, const char **path);
void run_finder_done(struct run_finder *f);
/*
 * Finds the run @ref and the path of its store. The caller frees @path and calls
 * stored_run_done(@r). Returns 0, -ENOENT if there is no such run, or another negative errno.
 */
int run_find(const struct store_options *store, const char *ref, struct stored_run *r, char **path);

#endif
