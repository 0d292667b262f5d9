// SPDX-License-Identifier: BSD-2-Clause
/* Lines of many runs, from the stores that the list of them came from. */
#include "base/log.h"
#include "store/database_open.h"
#include "store/stores.h"

#include <errno.h>
#include <string.h>

int stores_lines(const struct stores *s, const struct stored_runs *all, enum run_line which,
		 line_take take, void *context)
{
	for (size_t i = 0; i < s->nr && !s->agent; i++) {
		struct database d;
		int err = database_open(&d, s->path[i], DATABASE_READ);

		if (!err)
			err = query_lines(&d, i, all, which, take, context);
		if (err == -ENOENT || err == -ENODATA) /* nothing was kept there */
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
