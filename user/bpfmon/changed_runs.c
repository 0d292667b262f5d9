// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/changed_runs.h"

#include "base/log.h"
#include "store/database_open.h"
#include "store/node_store.h"

#include <errno.h>
#include <string.h>

static int run_check_changeable(const struct named_runs *n, const struct named_run *r,
				const char *verb)
{
	const char *path = r->file ? r->file : n->stores.path[r->run.source];

	if (r->file)
		log_error("cannot %s '%s': it is a file; only runs of a store can be changed, see "
			  "bpfmon list",
			  verb, path);
	else if (r->run.state == RUN_RUNNING)
		log_error("cannot %s run %s: it is being recorded; try again when it has ended",
			  verb, r->label);
	else if (node_store_is(path))
		log_error(
			"cannot %s run %s: the store '%s' is that of the node's agent, which alone "
			"writes to it",
			verb, r->label, path);
	else
		return 0;
	return -EPERM;
}

int changed_runs_each(const struct store_options *store, char *const *words, const char *verb,
		      int (*act)(struct database *d, int64_t id, const void *context),
		      const void *context, size_t *nr)
{
	static const struct run_word_rules many = { .takes_many = true };
	struct named_runs n;
	int err = named_runs_find(&n, store, words, &many, NULL);

	*nr = 0;
	for (size_t i = 0; !err && i < n.nr; i++)
		err = run_check_changeable(&n, &n.list[i], verb);
	for (size_t i = 0; !err && i < n.nr; i++) {
		const char *path = n.stores.path[n.list[i].run.source];
		struct database d;

		err = database_open(&d, path, DATABASE_CHANGE);
		if (!err)
			err = act(&d, n.list[i].run.id, context);
		if (err)
			log_error("cannot %s run %s of the store '%s': %s", verb, n.list[i].label,
				  path, d.why[0] ? d.why : strerror(-err));
		database_close(&d);
		*nr += !err;
	}
	named_runs_done(&n);
	return err;
}
