// SPDX-License-Identifier: BSD-2-Clause
/* Determines the run and the store of a request. */
#include "base/memory.h"
#include "base/text.h"
#include "store/database_open.h"
#include "web/web.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool request_is_of_node(struct MHD_Connection *c)
{
	const char *of = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "of");

	return of && !strcmp(of, "node");
}

static pthread_mutex_t finding = PTHREAD_MUTEX_INITIALIZER; /* stores_find() is not thread-safe */

bool web_has_agent(const struct web *w)
{
	return !access(w->agent, F_OK);
}

size_t web_put_store(const struct web *w, bool of_node, char **words)
{
	size_t nr = 0;

	if (of_node)
		words[nr++] = (char *)"--node";
	if (of_node || w->store.path) {
		words[nr++] = (char *)(of_node ? "--agent" : "--store");
		words[nr++] = (char *)(of_node ? w->agent : w->store.path);
	}
	return nr;
}

int run_finder_begin(struct run_finder *f, const struct store_options *store)
{
	int err;

	*f = (struct run_finder){ .open = SIZE_MAX };
	pthread_mutex_lock(&finding);
	err = stores_find(&f->stores, store);
	pthread_mutex_unlock(&finding);
	return err;
}

void run_finder_done(struct run_finder *f)
{
	if (f->open != SIZE_MAX)
		database_close(&f->database);
	stores_done(&f->stores);
}

/* Keeps the store open for the next run in it. */
static int run_finder_open(struct run_finder *f, size_t at)
{
	int err;

	if (f->open == at)
		return 0;
	if (f->open != SIZE_MAX)
		database_close(&f->database);
	f->open = SIZE_MAX;
	err = database_open(&f->database, f->stores.path[at], DATABASE_READ);
	if (err)
		database_close(&f->database);
	else
		f->open = at;
	return err;
}

int run_finder_find(struct run_finder *f, const char *ref, struct stored_run *r, const char **path)
{
	const char *colon = strrchr(ref, ':');
	size_t length = colon ? (size_t)(colon + 1 - ref) : 0, at = 0;
	const struct run_filter only = { .id = strtoll(ref + length, NULL, 10) };
	struct stored_runs found = { 0 };
	int err;

	*r = (struct stored_run){ 0 };
	while (at < f->stores.nr && !text_is(ref, length, f->stores.prefix[at]))
		at++;
	if (at == f->stores.nr)
		return -ENOENT;
	err = run_finder_open(f, at);
	if (!err)
		err = query_runs(&f->database, 0, &only, &found);
	if (!err && !found.nr)
		err = -ENOENT;
	if (!err) {
		*r = found.runs[0];
		found.runs[0] = (struct stored_run){ 0 };
		*path = f->stores.path[at];
	}
	stored_runs_done(&found);
	return err;
}

int run_find(const struct store_options *store, const char *ref, struct stored_run *r, char **path)
{
	const char *found = NULL;
	struct run_finder f;
	int err = run_finder_begin(&f, store);

	*path = NULL;
	*r = (struct stored_run){ 0 };
	if (err)
		return err;
	err = run_finder_find(&f, ref, r, &found);
	if (!err) {
		*path = memory_strdup(found);
		err = *path ? 0 : -ENOMEM;
	}
	run_finder_done(&f);
	return err;
}
