// SPDX-License-Identifier: BSD-2-Clause
#include "store/named_run.h"

#include "base/log.h"
#include "base/memory.h"
#include "base/nearest.h"
#include "run/job_id.h"

#include <ctype.h>
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

#define MIN_UUID 8 /* letters of a UUID that identify a run */
#define NAMED_IDS 5
#define MAX_BACK 1000000
#define COMMAND_SHOWN 60 /* bytes */

/* The parts of a word of the form NAME~2 or NAME~all. */
struct run_word {
	char *name;  /* owned; empty: any name */
	size_t back; /* number of runs before the last */
	bool has_all;
	bool has_back;
};

static int run_word_read(struct run_word *w, const char *text)
{
	const char *tilde = strrchr(text, '~');
	char *end = NULL;

	*w = (struct run_word){ .has_all = tilde && !strcmp(tilde, "~all") };
	if (tilde && isdigit((unsigned char)tilde[1])) {
		w->back = strtoul(tilde + 1, &end, 10);
		w->has_back = !*end && w->back <= MAX_BACK;
	}
	if (!w->has_all && !w->has_back)
		return 0;
	w->name = memory_strndup(text, (size_t)(tilde - text));
	return w->name ? 0 : -ENOMEM;
}

bool run_word_is_number(const char *text, int64_t *id)
{
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	*id = strtoll(text, &end, 10);
	return !*end && !errno && *id > 0;
}

/* Finds NUMBER in this host's store, or HOST:NUMBER. */
static int run_find_number(const struct stores *s, const char *text, struct stored_runs *all)
{
	for (size_t i = 0; i < s->nr; i++) {
		struct stores one = {
			.path = &s->path[i], .nr = 1, .is_named = s->is_named, .agent = s->agent
		};
		size_t n = strlen(s->prefix[i]);
		struct run_filter f = { 0 };
		int err;

		if (strncmp(text, s->prefix[i], n) != 0 || !run_word_is_number(text + n, &f.id))
			continue;
		err = stores_query(&one, &f, all);
		for (size_t k = 0; k < all->nr; k++)
			all->runs[k].source = i;
		return err;
	}
	return 0;
}

static int run_find_uuid(const struct stores *s, const char *text, struct stored_runs *all)
{
	const struct run_filter by_uuid = { .uuid = text };

	if (strlen(text) < MIN_UUID || strspn(text, "0123456789abcdef-") != strlen(text))
		return 0;
	return stores_query(s, &by_uuid, all);
}

/* Finds the runs of that name, else of that job, as in lists of jobs, the newest first. */
static int runs_find_name(const struct stores *s, const char *name,
			  const struct run_word_rules *rules, struct stored_runs *all)
{
	const enum state_filter state = rules->only_ended ? ONLY_FINISHED : ANY_STATE;
	const struct run_filter by_name = { .exact_name = *name ? name : NULL, .state = state };
	struct run_filter by_job = { .job = name, .state = state };
	int err = stores_query(s, &by_name, all);
	char digits[JOB_ID_BYTES];

	if (!err && !all->nr && *name)
		err = stores_query(s, &by_job, all);
	by_job.job = job_id_pattern(digits, sizeof(digits), name);
	if (!err && !all->nr && by_job.job)
		err = stores_query(s, &by_job, all);
	stored_runs_sort(all, BY_START);
	return err;
}

static int run_report_ambiguous(const struct stores *s, const char *text,
				const struct stored_runs *all)
{
	char ids[1000] = "";
	size_t n = 0;

	for (size_t i = 0; i < all->nr && i < NAMED_IDS && n < sizeof(ids); i++)
		n += (size_t)snprintf(ids + n, sizeof(ids) - n, "%s%s%" PRId64, i ? ", " : "",
				      s->prefix[all->runs[i].source], all->runs[i].id);
	log_error("'%s' is ambiguous: it matches %zu runs (%s%s); give the number of one", text,
		  all->nr, ids, all->nr > NAMED_IDS ? ", ..." : "");
	return -ENOTUNIQ;
}

/* Keeps @nr runs from @first on, and reverses their order to the oldest first. */
static void runs_keep(struct stored_runs *all, size_t first, size_t nr)
{
	for (size_t i = 0; i < all->nr; i++)
		if (i < first || i >= first + nr)
			stored_run_done(&all->runs[i]);
	memmove(all->runs, all->runs + first, nr * sizeof(*all->runs));
	all->nr = nr;
	for (size_t i = 0; i < nr / 2; i++) {
		struct stored_run r = all->runs[i];

		all->runs[i] = all->runs[nr - 1 - i];
		all->runs[nr - 1 - i] = r;
	}
}

/* Prints which run was chosen, because the user may have meant another one. */
static void run_report_chosen(const struct stores *s, const char *word, const struct stored_run *r,
			      size_t of)
{
	const char *prefix = s->prefix[r->source], *command = r->command ? r->command : "-";

	if (!word)
		log_note("run %s%" PRId64 " (the last one): %.*s", prefix, r->id, COMMAND_SHOWN,
			 command);
	else if (of)
		log_note("run %s%" PRId64
			 " (the last of %zu runs named '%s'; %s~1 is the one before)",
			 prefix, r->id, of, word, word);
	else
		log_note("run %s%" PRId64 " is %s: %.*s", prefix, r->id, word, COMMAND_SHOWN,
			 command);
}

/* Reduces the runs of a name, the newest first, to those that the word means. */
static int runs_choose(const struct stores *s, const char *word, const struct run_word *w,
		       const struct run_word_rules *rules, struct stored_runs *all)
{
	size_t nr = all->nr;

	if (w->has_all && !rules->takes_many && nr > 1)
		return run_report_ambiguous(s, word, all);
	if (w->has_all || (rules->is_all && word && !w->has_back)) {
		runs_keep(all, 0, nr);
	} else if (w->back >= nr) {
		log_error("no run '%s': there are only %zu runs%s", word, nr,
			  w->name && *w->name ? " of that name" : "");
		return -ENOENT;
	} else if (!w->has_back && rules->has_history && nr > 1) {
		log_note("run %s%" PRId64 " (the last of %zu runs named '%s') against the %s "
			 "before it",
			 s->prefix[all->runs[0].source], all->runs[0].id, nr, word,
			 nr > 2 ? "runs" : "run");
		runs_keep(all, 0, nr);
		*rules->has_history = true;
	} else {
		runs_keep(all, w->back, 1);
		if (!word || w->has_back || nr > 1)
			run_report_chosen(s, word, &all->runs[0], w->has_back ? 0 : nr);
	}
	return 0;
}

/* Splits a word of the form NAME~2 or NAME~all. A whole name of that form has been tried before. */
static int run_word_find_part(const struct stores *s, const char *word,
			      const struct run_word_rules *rules, struct stored_runs *all)
{
	struct run_word w;
	int err = run_word_read(&w, word);

	if (err)
		log_error("out of memory for the run '%s'", word);
	else if (w.name)
		err = runs_find_name(s, w.name, rules, all);
	if (!err && all->nr)
		err = runs_choose(s, word, &w, rules, all);
	free(w.name);
	return err;
}

int run_word_find(const struct stores *s, const char *word, const struct run_word_rules *rules,
		  struct stored_runs *all, bool *is_chosen)
{
	const struct run_word last = { 0 };
	int err;

	*is_chosen = false;
	err = word ? run_find_number(s, word, all) : 0;
	if (!err && word && !all->nr)
		err = run_find_uuid(s, word, all);
	if (err || all->nr)
		return err || all->nr == 1 ? err : run_report_ambiguous(s, word, all);
	err = runs_find_name(s, word ? word : "", rules, all);
	*is_chosen = !word || all->nr != 1;
	if (!err && all->nr)
		return runs_choose(s, word, &last, rules, all);
	return err || !word ? err : run_word_find_part(s, word, rules, all);
}

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

/* A word without a '/' may be the name of a file by chance, so the file must have a run. */
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

static struct named_run *named_runs_grow(struct named_runs *n)
{
	struct named_run *list = memory_reallocarray(n->list, n->nr + 1, sizeof(*list));

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

/* @name is NULL if it is ambiguous. */
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

/* Copies the name of the run in the stores that @word, less "~1", is near to; else sets "". */
static void run_name_guess(const struct stores *s, const char *word, char guess[RUN_LABEL_BYTES])
{
	const struct run_filter any = { 0 };
	const char *back = strrchr(word, '~');
	struct stored_runs all = { 0 };
	struct nearest n;

	*guess = '\0';
	nearest_begin(&n, word, back ? (size_t)(back - word) : strlen(word));
	if (!stores_query(s, &any, &all))
		for (size_t i = 0; i < all.nr; i++)
			if (all.runs[i].name)
				nearest_offer(&n, all.runs[i].name);
	if (n.word)
		snprintf(guess, RUN_LABEL_BYTES, "%s", n.word);
	stored_runs_done(&all);
}

static int word_report_unknown(const struct named_runs *n, const char *word)
{
	const bool of_node = n->stores.of_node;
	const char *what = of_node ? "job" : "run";
	const char *in = of_node ? "history of the node" : n->stores.nr > 1 ? "stores" : "store";
	char guess[RUN_LABEL_BYTES];

	if (!word && of_node) {
		log_error("no job named, and the history of the node is empty; name a file, or see "
			  "'bpfmon jobs'");
		return -ENOENT;
	}
	if (!word) {
		log_error("no run named, and the %s empty; name a file, or record a run with: "
			  "bpfmon -- COMMAND",
			  n->stores.nr > 1 ? "stores are" : "store is");
		return -ENOENT;
	}
	run_name_guess(&n->stores, word, guess);
	if (*guess)
		log_error("no %s '%s' in the %s, and no such file; did you mean '%s'?", what, word,
			  in, guess);
	else
		log_error("no %s '%s' in the %s, and no such file; see '%s'", what, word, in,
			  stores_list_command(of_node));
	return -ENOENT;
}

/* Appends the runs that @word means to @named. */
static int runs_name_add(const struct stores *s, const char *word, struct stored_runs *named)
{
	const struct run_word_rules all_of_name = { .takes_many = true, .is_all = true };
	struct stored_runs found = { 0 };
	char guess[RUN_LABEL_BYTES];
	bool is_chosen;
	int err = run_word_find(s, word, &all_of_name, &found, &is_chosen);

	for (size_t i = 0; !err && i < found.nr; i++) {
		err = stored_runs_append(named, &found.runs[i]);
		if (err)
			log_error("out of memory for the runs '%s'", word);
		else
			found.runs[i] = (struct stored_run){ 0 };
	}
	if (!err && !found.nr) {
		run_name_guess(s, word, guess);
		if (*guess)
			log_error("no run is called '%s'; did you mean '%s'?", word, guess);
		else
			log_error("no run is called '%s'; for runs with this in their name, "
				  "command or note: --word %s",
				  word, word);
		err = -ENOENT;
	}
	stored_runs_done(&found);
	return err;
}

static int run_uuid_order(const void *x, const void *y)
{
	const struct stored_run *a = x, *b = y;

	return strcmp(a->uuid, b->uuid);
}

int run_words_select(const struct stores *s, char *const *words, struct stored_runs *all)
{
	struct stored_runs named = { 0 };
	size_t kept = 0;
	int err = 0;

	if (!words || !*words)
		return 0;
	for (; !err && *words; words++)
		err = runs_name_add(s, *words, &named);
	if (named.nr)
		qsort(named.runs, named.nr, sizeof(*named.runs), run_uuid_order);
	for (size_t i = 0; !err && i < all->nr; i++) {
		if (bsearch(&all->runs[i], named.runs, named.nr, sizeof(*named.runs),
			    run_uuid_order))
			all->runs[kept++] = all->runs[i];
		else
			stored_run_done(&all->runs[i]);
	}
	if (!err)
		all->nr = kept;
	stored_runs_done(&named);
	return err;
}

static int named_runs_add_word(struct named_runs *n, const char *word,
			       const struct run_word_rules *rules,
			       bool (*is_known)(const char *path))
{
	struct stored_runs all = { 0 };
	bool is_chosen;
	int err;

	if (word && word_is_file(word, is_known)) /* with the rights of the user */
		return named_runs_add_file(n, word);
	err = run_word_find(&n->stores, word, rules, &all, &is_chosen); /* reports its errors */
	if (!err && all.nr)
		err = named_runs_add_stored(n, &all, is_chosen ? NULL : word);
	else if (!err && word && path_is_there(word))
		err = named_runs_add_file(n, word); /* its reader reports what is wrong with it */
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
		return stores_switch_run(&n->stores, &r->run, s);
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
