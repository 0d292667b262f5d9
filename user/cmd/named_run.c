// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/named_run.h"

#include "base/log.h"
#include "cmd/stores.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MIN_UUID 8 /* letters of a UUID that name a run */
#define NAMED_IDS 5

static bool word_is_number(const char *text, int64_t *id)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*id = strtoll(text, &end, 10);
	return !*end && !errno && *id > 0;
}

/* NUMBER of this host's store, or HOST:NUMBER. */
static int run_find_number(const struct stores *s, const char *text, struct stored_runs *all)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct stores one = { .path = &s->path[i], .nr = 1, .is_named = s->is_named };
		size_t n = strlen(s->prefix[i]);
		struct run_filter f = { 0 };
		int err;

		if (strncmp(text, s->prefix[i], n) != 0 || !word_is_number(text + n, &f.id))
			continue;
		err = stores_query(&one, &f, all);
		for (size_t k = 0; k < all->nr; k++)
			all->runs[k].source = i;
		return err;
	}
	return 0;
}

static int run_find(const struct stores *s, const char *text, struct stored_runs *all)
{
	const struct run_filter by_uuid = { .uuid = text }, by_name = { .exact_name = text };
	int err = run_find_number(s, text, all);

	if (err || all->nr)
		return err;
	if (strlen(text) >= MIN_UUID && strspn(text, "0123456789abcdef-") == strlen(text)) {
		err = stores_query(s, &by_uuid, all);
		if (err || all->nr)
			return err;
	}
	return stores_query(s, &by_name, all);
}

static void run_report_ambiguous(const struct stores *s, const char *text,
				 const struct stored_runs *all)
{
	char ids[1000] = "";
	size_t n = 0;

	for (size_t i = 0; i < all->nr && i < NAMED_IDS && n < sizeof(ids); i++)
		n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%s%s%" PRId64, i ? ", " : "",
				      s->prefix[all->runs[i].source], all->runs[i].id);
	log_error("'%s' means %zu runs (%s%s); name one by its number", text, all->nr, ids,
		  all->nr > NAMED_IDS ? ", ..." : "");
}

static int named_run_open_stored(struct source *s, const struct stores *stores, const char *text,
				 struct stored_runs *all)
{
	const struct stored_run *r = all->runs;
	int err;

	if (!all->nr) {
		log_error("there is no run '%s' in the store%s, and no such file; see bpfmon list",
			  text, stores->nr > 1 ? "s" : "");
		return -ENOENT;
	}
	if (all->nr > 1) {
		stored_runs_sort(all, BY_START);
		run_report_ambiguous(stores, text, all);
		return -ENOTUNIQ;
	}
	err = source_open_stored(s, stores->path[r->source], r->id, r->state);
	if (err)
		log_error("cannot read the store '%s': %s", stores->path[r->source],
			  source_why(s, err));
	return err;
}

static int named_run_open_file(struct source *s, const char *path)
{
	int err = source_open_file(s, path);

	if (err)
		log_error("cannot read '%s': %s", path, source_error(err));
	return err;
}

static int line_stop_reading(void *context, struct line *l)
{
	(void)context;
	(void)l;
	return 1;
}

/* Whether the file begins with the meta line of a run. */
static bool path_is_run(const char *path)
{
	struct source s;
	bool is = !source_open_file(&s, path) &&
		  source_each(&s, PART(LINE_META), line_stop_reading, NULL) == 1;

	source_close(&s);
	return is;
}

static bool path_is_there(const char *what)
{
	struct stat st;
	int64_t id;

	return !word_is_number(what, &id) &&
	       (!stat(what, &st) || (errno != ENOENT && errno != ENOTDIR && errno != ENAMETOOLONG));
}

/* A word without a '/' may name a file by chance: the file is taken only if it holds a run. */
static bool word_is_file(const char *what, bool (*is_known)(const char *path))
{
	struct stat st;
	int64_t id;

	if (!strcmp(what, "-"))
		return true;
	if (strchr(what, '/'))
		return path_is_there(what);
	if (word_is_number(what, &id) || stat(what, &st) || !S_ISREG(st.st_mode))
		return false;
	return path_is_run(what) || (is_known && is_known(what));
}

static int named_run_open_word(struct source *s, const struct stores *stores, const char *what)
{
	struct stored_runs all = { 0 };
	int err = run_find(stores, what, &all); /* reported already */

	if (!err && !all.nr && path_is_there(what))
		err = named_run_open_file(s, what); /* which reports what is wrong with it */
	else if (!err)
		err = named_run_open_stored(s, stores, what, &all);
	stored_runs_done(&all);
	return err;
}

int named_run_open(struct source *s, const char *store, const char *what,
		   bool (*is_known)(const char *path))
{
	struct stores stores;
	int err = stores_find(&stores, store);

	*s = (struct source){ 0 };
	if (err)
		return err;
	if (word_is_file(what, is_known)) /* after stores_find(): with the user's rights */
		err = named_run_open_file(s, what);
	else
		err = named_run_open_word(s, &stores, what);
	stores_done(&stores);
	return err;
}
