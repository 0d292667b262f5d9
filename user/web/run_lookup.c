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

static int run_read(const char *path, int64_t id, struct stored_run *r)
{
	const struct run_filter only = { .id = id };
	struct stored_runs found = { 0 };
	struct database d;
	int err = database_open(&d, path, DATABASE_READ);

	if (!err)
		err = query_runs(&d, 0, &only, &found);
	database_close(&d);
	if (!err && !found.nr)
		err = -ENOENT;
	if (!err) {
		*r = found.runs[0];
		found.runs[0] = (struct stored_run){ 0 };
	}
	stored_runs_done(&found);
	return err;
}

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

int run_find(const struct store_options *store, const char *ref, struct stored_run *r, char **path)
{
	const char *colon = strrchr(ref, ':');
	size_t length = colon ? (size_t)(colon + 1 - ref) : 0;
	struct stores s;
	int err;

	*path = NULL;
	*r = (struct stored_run){ 0 };
	pthread_mutex_lock(&finding);
	err = stores_find(&s, store);
	for (size_t i = 0; !err && !*path && i < s.nr; i++)
		if (text_is(ref, length, s.prefix[i])) {
			*path = memory_strdup(s.path[i]);
			err = *path ? 0 : -ENOMEM;
		}
	if (!err)
		stores_done(&s);
	pthread_mutex_unlock(&finding);
	if (!err)
		err = *path ? run_read(*path, strtoll(ref + length, NULL, 10), r) : -ENOENT;
	if (err) {
		free(*path);
		*path = NULL;
	}
	return err;
}
