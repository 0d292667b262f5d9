// SPDX-License-Identifier: BSD-2-Clause
/* The lines of many runs, which the list of runs does not have. */
#include "cmd/stores.h"

#include "base/log.h"
#include "store/database.h"

#include <errno.h>
#include <string.h>

static int store_texts(struct database *d, size_t source, const struct stored_runs *all, size_t nr,
		       text_take take, void *context)
{
	for (size_t i = 0; i < nr; i++) {
		struct run_text t;
		int err;

		if (all->runs[i].source != source)
			continue;
		err = query_text(d, all->runs[i].id, &t);
		if (!err)
			take(context, i, &t);
		run_text_done(&t);
		if (err && err != -ENOENT) /* removed meanwhile */
			return err;
	}
	return 0;
}

int stores_texts(const struct stores *s, const struct stored_runs *all, size_t nr, text_take take,
		 void *context)
{
	for (size_t i = 0; i < s->nr && !s->agent; i++) {
		struct database d;
		int err = database_open(&d, s->path[i], DATABASE_READ);

		if (!err)
			err = store_texts(&d, i, all, nr, take, context);
		if (err && err != -ENOENT && err != -ENODATA)
			log_error("cannot read the store '%s': %s", s->path[i],
				  d.why[0] ? d.why : strerror(-err));
		database_close(&d);
		if (err && err != -ENOENT && err != -ENODATA)
			return err;
	}
	return 0;
}
