// SPDX-License-Identifier: BSD-2-Clause
#include "store/stores.h"

#include "base/agent_socket.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/user.h"
#include "config/config.h"
#include "store/database_open.h"
#include "store/node_store.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define ENDING ".sqlite"

#define STORE_PATH_BYTES 4352

/* Writes the default folder of stores below @home. sudo drops XDG_STATE_HOME. */
static void store_home_folder(char out[STORE_PATH_BYTES], const char *home)
{
	snprintf(out, STORE_PATH_BYTES, "%.3900s/.local/state/bpfmon", home);
}

static void store_folder(char out[STORE_PATH_BYTES], const char *home, bool at_home)
{
	const char *state = at_home ? NULL : getenv("XDG_STATE_HOME");

	if (state && *state == '/' && strlen(state) < 4000) /* XDG: ignore relative paths */
		snprintf(out, STORE_PATH_BYTES, "%s/bpfmon", state);
	else
		store_home_folder(out, home);
}

static void store_path(char out[STORE_PATH_BYTES], const char *home, const char *host, bool at_home)
{
	size_t n;

	store_folder(out, home, at_home);
	n = strlen(out);
	snprintf(out + n, STORE_PATH_BYTES - n, "/%.255s.sqlite", *host ? host : "localhost");
	for (char *c = out + n + 1; *c; c++)
		if (*c == '/')
			*c = '_';
}

const char *user_home(const struct user *caller, bool as_root)
{
	static struct user root;
	bool was_sudo = getuid() != caller->uid;
	const char *home = getenv("HOME");

	if (was_sudo && as_root && !user_find("root", &root))
		return root.home;
	return was_sudo || !home || *home != '/' ? caller->home : home;
}

const char *user_store(const struct user *caller, const char *host, bool as_root)
{
	static char path[STORE_PATH_BYTES];

	/* the caller's environment must not choose where root's files are */
	store_path(path, user_home(caller, as_root), host, as_root && user_is_under_sudo());
	return path;
}

static bool stores_grow(struct stores *s)
{
	size_t room = s->room ? s->room * 2 : 16;
	char **path, **prefix;

	if (s->nr < s->room)
		return true;
	path = memory_reallocarray(s->path, room, sizeof(*path));
	if (path)
		s->path = path;
	prefix = memory_reallocarray(s->prefix, room, sizeof(*prefix));
	if (prefix)
		s->prefix = prefix;
	if (path && prefix)
		s->room = room;
	return path && prefix;
}

static int stores_add(struct stores *s, const char *path, const char *host)
{
	if (!stores_grow(s))
		return -ENOMEM;
	s->path[s->nr] = memory_strdup(path);
	if (memory_asprintf(&s->prefix[s->nr], "%s%s", host, *host ? ":" : "") < 0)
		s->prefix[s->nr] = NULL;
	s->nr++; /* counted also on error, for stores_done() */
	return s->path[s->nr - 1] && s->prefix[s->nr - 1] ? 0 : -ENOMEM;
}

static int entry_is_store(const struct dirent *e)
{
	size_t n = strlen(e->d_name), m = strlen(ENDING);

	return n > m && !strcmp(e->d_name + n - m, ENDING);
}

static bool stores_have_host(const struct stores *s, const char *host)
{
	size_t n = strlen(host);

	for (size_t i = 0; i < s->nr; i++)
		if (!strncmp(s->prefix[i], host, n) && !strcmp(s->prefix[i] + n, ":"))
			return true;
	return false;
}

/* Adds all stores in @folder except the first one. */
static int stores_add_folder(struct stores *s, const char *folder)
{
	char path[STORE_PATH_BYTES + 300], host[300];
	struct dirent **found;
	int n = memory_scandir(folder, &found, entry_is_store, alphasort), err = 0;

	for (int i = 0; i < n; i++) {
		const char *name = found[i]->d_name;

		snprintf(path, sizeof(path), "%s/%s", folder, name);
		snprintf(host, sizeof(host), "%.*s", (int)(strlen(name) - strlen(ENDING)), name);
		if (stores_have_host(s, host)) /* another folder has a store of that host */
			snprintf(host, sizeof(host), "%.*s~", (int)(strlen(name) - strlen(ENDING)),
				 name);
		if (!err && strcmp(path, s->path[0]) != 0)
			err = stores_add(s, path, host);
		free(found[i]);
	}
	if (n >= 0)
		free(found);
	return err;
}

static bool folders_are_same(const char *a, const char *b)
{
	struct stat x, y;

	return !stat(a, &x) && !stat(b, &y) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * Adds the stores next to the first one, then those of the default folder if XDG_STATE_HOME is
 * another: runs under sudo are there.
 */
static int stores_add_hosts(struct stores *s, const char *home)
{
	const char *own = s->path[0], *slash = strrchr(own, '/');
	char folder[STORE_PATH_BYTES], at_home[STORE_PATH_BYTES];
	int err;

	snprintf(folder, sizeof(folder), "%.*s", (int)(slash - own), own);
	store_home_folder(at_home, home);
	err = stores_add_folder(s, folder);
	if (!err && strcmp(folder, at_home) != 0 && !folders_are_same(folder, at_home))
		err = stores_add_folder(s, at_home);
	return err;
}

/*
 * Under sudo all stores are read with the user's rights, because root would write to a path that
 * the user chose.
 */
static bool may_read_node(const struct store_options *o)
{
	return !o->agent && !geteuid() && !user_is_under_sudo();
}

/*
 * Returns the path of --store, or of the node's store (in @of_node); NULL means the user's own
 * stores.
 */
static const char *stores_choose(const struct store_options *o, char *of_node)
{
	if (!o->of_node)
		return o->path;
	node_store_path(of_node);
	return of_node;
}

const char *stores_list_command(bool of_node)
{
	return of_node ? "bpfmon list --node" : "bpfmon list";
}

/* Becomes the user who called sudo; only an agent is still queried as root. */
static int stores_leave_root(struct stores *s, const struct user *caller)
{
	int err = s->agent ? agent_socket_stay_root(s->agent) : 0;

	s->as_root = s->agent && !err;
	if (err) {
		log_error("cannot start the process that connects to the agent as root: %s",
			  strerror(-err));
		return err;
	}
	err = user_become(caller);
	if (err)
		log_error("cannot become user %s to read the store: %s", caller->name,
			  strerror(-err));
	return err;
}

int stores_find(struct stores *s, const struct store_options *o)
{
	char of_node[CONFIG_TEXT_BYTES];
	const char *store = stores_choose(o, of_node);
	struct utsname uts = { 0 };
	const char *home;
	struct user caller;
	bool was_sudo;
	int err;

	*s = (struct stores){ .is_named = store != NULL, .of_node = o->of_node };
	if (o->of_node && !may_read_node(o))
		s->agent = o->agent ? o->agent : AGENT_SOCKET;
	uname(&uts);
	user_find_caller(&caller, &was_sudo);
	home = user_home(&caller, false);
	err = stores_add(s, store ? store : user_store(&caller, uts.nodename, false), "");
	if (!err && was_sudo) {
		err = stores_leave_root(s, &caller);
		if (err)
			goto out;
	}
	if (!err && !s->is_named)
		err = stores_add_hosts(s, home);
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

static const char *database_why(const struct database *d, int err)
{
	return d->why[0] ? d->why : strerror(-err);
}

/*
 * Drops duplicates before it filters by state: one copy of a run may be finished and another not.
 */
static int runs_make_unique(const struct run_filter *f, struct stored_runs *all)
{
	int err = stored_runs_unique(all);

	if (!err)
		err = stored_runs_select(all, f->state);
	if (!err)
		err = stored_runs_search(all, f);
	if (err)
		log_error("out of memory for %zu runs", all->nr);
	return err;
}

int stores_query(const struct stores *s, const struct run_filter *f, struct stored_runs *all)
{
	struct run_filter any_state = *f;

	if (s->agent) {
		int err = node_store_query(s->agent, f, all);

		return err ? err : runs_make_unique(f, all);
	}
	any_state.state = ANY_STATE;
	for (size_t i = 0; i < s->nr; i++) {
		struct database d;
		int err = database_open(&d, s->path[i], DATABASE_READ);

		if (!err)
			err = query_runs(&d, i, &any_state, all);
		if (err && (s->is_named || err == -ENOMEM))
			log_error("cannot read the store '%s': %s", s->path[i],
				  database_why(&d, err));
		else if (err && err != -ENOENT && err != -ENODATA) /* there is no store yet */
			log_warn("skipping the store '%s': %s", s->path[i], database_why(&d, err));
		database_close(&d);
		if (err && (s->is_named || err == -ENOMEM))
			return err;
	}
	return runs_make_unique(f, all);
}

int stores_open_run(const struct stores *s, const struct stored_run *r, struct source *source)
{
	int err;

	if (s->agent)
		return node_store_open(s->agent, r->id, source);
	err = source_open_stored(source, s->path[r->source], r->id, r->state);
	if (err)
		log_error("cannot read the store '%s': %s", s->path[r->source],
			  source_why(source, err));
	return err;
}

int stores_switch_run(const struct stores *s, const struct stored_run *r, struct source *source)
{
	if (!s->agent && source_switch_stored(source, s->path[r->source], r->id, r->state))
		return 0;
	source_close(source);
	return stores_open_run(s, r, source);
}

int stores_lines(const struct stores *s, const struct stored_runs *all, enum run_line which,
		 run_line_fn take, void *context)
{
	for (size_t i = 0; i < s->nr && !s->agent; i++) {
		struct database d;
		int err = database_open(&d, s->path[i], DATABASE_READ);

		if (!err)
			err = query_lines(&d, i, all, which, take, context);
		if (err == -ENOENT || err == -ENODATA) /* there is no store yet */
			err = 0;
		if (err)
			log_error("cannot read the store '%s': %s", s->path[i],
				  d.why[0] ? d.why : strerror(-err));
		database_close(&d);
		if (err && (s->is_named || err == -ENOMEM))
			return err;
	}
	return 0;
}
