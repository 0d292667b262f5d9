// SPDX-License-Identifier: BSD-2-Clause
/* A line of each of many runs, without a copy. */
#include "store/query.h"
#include "store/table_column.h"

static int query_line(struct row *r, int64_t id, size_t at, line_take take, void *context)
{
	int rc = sqlite3_bind_int64(r->s, 1, id);
	const char *line;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(r->s);
	if (rc == SQLITE_ROW) {
		line = row_text(r, 0);
		if (line)
			take(context, at, line);
	}
	sqlite3_reset(r->s);
	return r->err ? r->err : database_error(r->d, rc);
}

int query_lines(struct database *d, size_t source, const struct stored_runs *all,
		enum run_line which, line_take take, void *context)
{
	static const char *const select[] = {
		[TEXT_META] = "SELECT meta FROM run_text WHERE run=?",
		[TEXT_SUMMARY] = "SELECT summary FROM run_text WHERE run=?",
	};
	sqlite3_stmt *s = NULL;
	int err = database_error(d, sqlite3_prepare_v2(d->db, select[which], -1, &s, NULL));
	struct row r = { .d = d, .s = s, .table = "run_text" };

	for (size_t i = 0; i < all->nr && !err; i++)
		if (all->runs[i].source == source)
			err = query_line(&r, all->runs[i].id, i, take, context);
	sqlite3_finalize(s);
	return err;
}
