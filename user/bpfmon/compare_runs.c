// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/cmd_compare.h"

#include "base/log.h"
#include "options/common_options.h"
#include "store/stores.h"
#include "store/named_run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int sides_add_peer_file(struct sides *all, const char *name)
{
	int err = sides_add_peer(all, name);
	const char *why = source_error(err);

	if (err == -EMLINK)
		why = "it has the output of several runs of GNU time; put each into a file of its "
		      "own";
	else if (err == -EBADMSG)
		why = "it is neither a run of bpfmon (-o run.jsonl), nor prmon's JSON, nor a block "
		      "of GNU time -v";
	if (err)
		log_error("cannot compare '%s': %s", name, why);
	return err;
}

/* A file with several blocks of GNU time counts as a peer's, though it cannot be compared. */
static bool path_is_peer(const char *path)
{
	struct sides one = { 0 };
	int err = sides_add_peer(&one, path);

	sides_done(&one);
	return !err || err == -EMLINK;
}

/* @steps is NULL if they are not compared. */
static int sides_add_source(struct sides *all, struct steps *steps, const char *name,
			    struct source *src)
{
	int err = sides_add_run(all, name, src);

	return err || !steps ? err : steps_add_run(steps, all->nr - 1, src);
}

static int sides_add_named(struct sides *all, struct steps *steps, const struct named_runs *runs,
			   size_t i, struct source *src)
{
	const char *name = runs->list[i].label;
	bool is_other;
	int err = named_runs_open(runs, i, src);

	if (err)
		return err; /* already reported */
	err = sides_add_source(all, steps, name, src);
	is_other = err == -EBADMSG && strcmp(name, "-") != 0;
	if (err && !is_other)
		log_error("cannot compare '%s': %s", name, source_why(src, err));
	return is_other ? sides_add_peer_file(all, name) : err;
}

static int sides_add_stored(struct sides *all, struct steps *steps, const struct stores *stores,
			    const struct stored_run *r, struct source *src)
{
	char name[300];
	int err = stores_switch_run(stores, r, src);

	if (err)
		return err; /* already reported */
	snprintf(name, sizeof(name), "%s%" PRId64, stores->prefix[r->source], r->id);
	err = sides_add_source(all, steps, name, src);
	if (err)
		log_error("cannot compare run %s: %s", name, source_why(src, err));
	return err;
}

/* The oldest comes first: the others are compared with it. */
static int sides_add_filtered(struct sides *all, struct steps *steps,
			      const struct compare_options *o)
{
	struct run_filter f = filter_get(&o->filter);
	struct stored_runs found = { 0 };
	struct source src = { 0 };
	struct stores stores;
	int err = stores_find(&stores, &o->store);

	if (err)
		return err;
	if (f.state == ANY_STATE)
		f.state = ONLY_FINISHED;
	err = stores_query(&stores, &f, &found);
	stored_runs_sort(&found, BY_START);
	for (size_t i = found.nr; !err && i-- > 0;)
		err = sides_add_stored(all, steps, &stores, &found.runs[i], &src);
	source_close(&src);
	if (!err && found.nr < 2) {
		log_error("%zu run%s in the store match%s the filters, but a comparison needs two; "
			  "see '%s' with the same filters",
			  found.nr, found.nr == 1 ? "" : "s", found.nr == 1 ? "es" : "",
			  stores_list_command(o->store.of_node));
		err = -ENOENT;
	}
	stored_runs_done(&found);
	stores_done(&stores);
	return err;
}

/* A single name means its last run, against all before it. */
static int sides_add_all_named(struct sides *all, struct steps *steps,
			       const struct compare_options *o, bool *has_history)
{
	const struct run_word_rules rules = { .takes_many = true,
					      .has_history =
						      o->common.words[1] ? NULL : has_history,
					      .only_ended = true };
	struct source src = { 0 };
	struct named_runs runs;
	int err = named_runs_find(&runs, &o->store, o->common.words, &rules, path_is_peer);

	if (!err && runs.nr == 1) {
		log_error("a comparison needs two runs, and '%s' is only one; name another, or a "
			  "name that several runs have",
			  o->common.words[0]);
		err = -ENOENT;
	}
	for (size_t i = 0; !err && i < runs.nr; i++)
		err = sides_add_named(all, steps, &runs, i, &src);
	source_close(&src);
	named_runs_done(&runs);
	return err;
}

int compare_runs_read(struct sides *all, struct steps *steps, const struct compare_options *o,
		      bool *has_history)
{
	struct steps *wanted = o->by_step ? steps : NULL;

	steps->kind = o->steps;
	if (*o->common.words)
		return sides_add_all_named(all, wanted, o, has_history);
	return o->by || filter_is_given(&o->filter) ? sides_add_filtered(all, wanted, o) : 0;
}
