// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/stores.h"

#include "base/log.h"
#include "cmd/prepare.h"
#include "launch/user.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ENDING ".sqlite"

int stores_begin(struct options *o, enum option_scope scope, int argc, char **argv,
		 void (*help)(void))
{
	int err = options_parse(o, scope, argc, argv);

	if (err)
		return err;
	if (o->help)
		help();
	else if (o->version)
		puts("bpfmon " BPFMON_VERSION);
	return !o->help && !o->version;
}

static bool has_room(struct stores *s)
{
	size_t room = s->room ? s->room * 2 : 16;
	char **path, **prefix;

	if (s->nr < s->room)
		return true;
	path = reallocarray(s->path, room, sizeof(*path));
	if (path)
		s->path = path;
	prefix = reallocarray(s->prefix, room, sizeof(*prefix));
	if (prefix)
		s->prefix = prefix;
	if (path && prefix)
		s->room = room;
	return path && prefix;
}

static int add(struct stores *s, const char *path, const char *host)
{
	if (!has_room(s))
		return -ENOMEM;
	s->path[s->nr] = strdup(path);
	if (asprintf(&s->prefix[s->nr], "%s%s", host, *host ? ":" : "") < 0)
		s->prefix[s->nr] = NULL;
	s->nr++; /* for stores_done() */
	return s->path[s->nr - 1] && s->prefix[s->nr - 1] ? 0 : -ENOMEM;
}

static int is_store(const struct dirent *e)
{
	size_t n = strlen(e->d_name), m = strlen(ENDING);

	return n > m && !strcmp(e->d_name + n - m, ENDING);
}

/* Those beside the own one. */
static int add_hosts(struct stores *s)
{
	const char *own = s->path[0], *slash = strrchr(own, '/');
	char folder[STORE_PATH_BYTES], path[STORE_PATH_BYTES + 300];
	struct dirent **found;
	int n, err = 0;

	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - own), own);
	n = scandir(folder, &found, is_store, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, found[i]->d_name);
		if (!err && strcmp(path, own) != 0) {
			found[i]->d_name[strlen(found[i]->d_name) - strlen(ENDING)] = '\0';
			err = add(s, path, found[i]->d_name);
		}
		free(found[i]);
	}
	if (n >= 0)
		free(found);
	return err;
}

int stores_find(struct stores *s, const char *store)
{
	struct utsname uts = { 0 };
	struct user caller;
	bool was_sudo;
	int err;

	*s = (struct stores){ .is_named = store != NULL };
	uname(&uts);
	user_caller(&caller, &was_sudo);
	err = add(s, store ? store : store_of(&caller, uts.nodename, false), "");
	if (!err && was_sudo) {
		err = user_become(&caller);
		if (err) {
			log_error("cannot become user %s to read the store: %s", caller.name,
				  strerror(-err));
			goto out;
		}
	}
	if (!err && !s->is_named)
		err = add_hosts(s);
	if (err)
		log_error("out of memory for the list of stores");
out:
	if (err)
		stores_done(s);
	return err;
}

void stores_done(struct stores *s)
{
	for (size_t i = 0; i < s->nr; i++) {
		free(s->path[i]);
		free(s->prefix[i]);
	}
	free(s->path);
	free(s->prefix);
	*s = (struct stores){ 0 };
}

static const char *why(const struct database *d, int err)
{
	return d->why[0] ? d->why : strerror(-err);
}

/* @f->state is asked for at the end: of a run a copy may be finished, and another not. */
static int make_unique(const struct run_filter *f, struct stored_runs *all)
{
	int err = stored_runs_unique(all);

	if (!err)
		err = stored_runs_select(all, f->state);
	if (err)
		log_error("out of memory for %zu runs", all->nr);
	return err;
}

int stores_query(const struct stores *s, const struct run_filter *f, struct stored_runs *all)
{
	struct run_filter any_state = *f;

	any_state.state = ANY_STATE;
	for (size_t i = 0; i < s->nr; i++) {
		struct database d;
		int err = database_open(&d, s->path[i], DATABASE_READ);

		if (!err)
			err = query_runs(&d, i, &any_state, all);
		if (err && s->is_named)
			log_error("cannot read the store '%s': %s", s->path[i], why(&d, err));
		else if (err && err != -ENOENT && err != -ENODATA) /* nothing was kept there */
			log_warn("the store '%s' is left out: %s", s->path[i], why(&d, err));
		database_close(&d);
		if (err && s->is_named)
			return err;
	}
	return make_unique(f, all);
}
