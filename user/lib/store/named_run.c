// SPDX-License-Identifier: BSD-2-Clause
#include "store/named_run.h"

#include "base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

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

	return !run_word_is_number(what, &id) &&
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
	if (run_word_is_number(what, &id) || stat(what, &st) || !S_ISREG(st.st_mode))
		return false;
	return path_is_run(what) || (is_known && is_known(what));
}

/* A place at the end of the list; NULL without memory. */
static struct named_run *named_runs_grow(struct named_runs *n)
{
	struct named_run *list = reallocarray(n->list, n->nr + 1, sizeof(*list));

	if (!list) {
		log_error("out of memory for %zu runs", n->nr + 1);
		return NULL;
	}
	n->list = list;
	list[n->nr] = (struct named_run){ 0 };
	return &list[n->nr++];
}

static int named_runs_add_file(struct named_runs *n, const char *path)
{
	struct named_run *r = named_runs_grow(n);

	if (!r)
		return -ENOMEM;
	r->file = path;
	snprintf(r->label, sizeof(r->label), "%s", path);
	return 0;
}

/* @name: NULL where it does not say which run it is. */
static int named_runs_add_stored(struct named_runs *n, struct stored_runs *all, const char *name)
{
	for (size_t i = 0; i < all->nr; i++) {
		struct named_run *r = named_runs_grow(n);

		if (!r)
			return -ENOMEM;
		r->run = all->runs[i];
		all->runs[i] = (struct stored_run){ 0 };
		if (name)
			snprintf(r->label, sizeof(r->label), "%s", name);
		else
			snprintf(r->label, sizeof(r->label), "%s%" PRId64,
				 n->stores.prefix[r->run.source], r->run.id);
	}
	return 0;
}

static int word_report_unknown(const struct named_runs *n, const char *word)
{
	if (word)
		log_error("there is no run '%s' in the store%s, and no such file; see bpfmon list",
			  word, n->stores.nr > 1 ? "s" : "");
	else
		log_error("no run was named, and none is in the store%s yet; name a file, or keep "
			  "a run: bpfmon -- COMMAND",
			  n->stores.nr > 1 ? "s" : "");
	return -ENOENT;
}

static int named_runs_add_word(struct named_runs *n, const char *word,
			       const struct run_word_rules *rules,
			       bool (*is_known)(const char *path))
{
	struct stored_runs all = { 0 };
	bool is_chosen;
	int err;

	if (word && word_is_file(word, is_known)) /* with the user's rights */
		return named_runs_add_file(n, word);
	err = run_word_find(&n->stores, word, rules, &all, &is_chosen); /* reported already */
	if (!err && all.nr)
		err = named_runs_add_stored(n, &all, is_chosen ? NULL : word);
	else if (!err && word && path_is_there(word))
		err = named_runs_add_file(n, word); /* whose reader reports what is wrong with it */
	else if (!err)
		err = word_report_unknown(n, word);
	stored_runs_done(&all);
	return err;
}

int named_runs_find(struct named_runs *n, const struct store_options *store, char *const *words,
		    const struct run_word_rules *rules, bool (*is_known)(const char *path))
{
	int err;

	*n = (struct named_runs){ 0 };
	err = stores_find(&n->stores, store);
	if (!err && !*words)
		err = named_runs_add_word(n, NULL, rules, is_known);
	for (; !err && *words; words++)
		err = named_runs_add_word(n, *words, rules, is_known);
	return err;
}

int named_runs_open(const struct named_runs *n, size_t i, struct source *s)
{
	const struct named_run *r = &n->list[i];
	int err;

	if (!r->file)
		return stores_turn_run(&n->stores, &r->run, s);
	source_close(s);
	err = source_open_file(s, r->file);
	if (err)
		log_error("cannot read '%s': %s", r->file, source_error(err));
	return err;
}

void named_runs_done(struct named_runs *n)
{
	for (size_t i = 0; i < n->nr; i++)
		stored_run_done(&n->list[i].run);
	free(n->list);
	stores_done(&n->stores);
	*n = (struct named_runs){ 0 };
}

int named_run_open(struct source *s, const struct store_options *store, const char *what,
		   char label[RUN_LABEL_BYTES])
{
	static const struct run_word_rules one;
	char *const words[] = { (char *)what, NULL };
	struct named_runs n;
	int err = named_runs_find(&n, store, words, &one, NULL);

	*s = (struct source){ 0 };
	if (!err)
		err = named_runs_open(&n, 0, s);
	if (!err && label)
		memcpy(label, n.list[0].label, RUN_LABEL_BYTES);
	named_runs_done(&n);
	return err;
}
