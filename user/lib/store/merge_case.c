// SPDX-License-Identifier: BSD-2-Clause
#include "store/merge_case.h"

#include "store/identity.h"

static enum merge_case case_choose(sqlite3_stmt *s, const struct merge_other *o)
{
	enum merge_case known =
		o->edited_ns > sqlite3_column_int64(s, 6) ? MERGE_WORDS : MERGE_KNOWN;

	if (sqlite3_column_int(s, 1))
		return known;
	if (identity_goes_on((const char *)sqlite3_column_text(s, 3),
			     (uint64_t)sqlite3_column_int64(s, 4),
			     (uint64_t)sqlite3_column_int64(s, 5)))
		return MERGE_BUSY;
	return o->has_ended || o->wall_ns > sqlite3_column_int64(s, 2) ? MERGE_RENEW : known;
}

int merge_decide(struct database *d, const struct merge_other *o, struct merge_decision *what)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(
		d->db,
		"SELECT id, ended, ifnull(wall_ns, 0), writer, seen_time_ns, interval_ns,"
		" ifnull(edited_time_ns, 0) FROM run WHERE uuid=?",
		-1, &s, NULL);

	*what = (struct merge_decision){ .what = MERGE_ADD };
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(s, 1, o->uuid, -1, SQLITE_STATIC);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(s);
	if (rc == SQLITE_ROW) {
		what->id = sqlite3_column_int64(s, 0);
		what->what = case_choose(s, o);
		what->keeps_words = sqlite3_column_int64(s, 6) > o->edited_ns;
	}
	sqlite3_finalize(s);
	return database_error(d, rc);
}

void merge_count(struct merged *m, enum merge_case what)
{
	m->added += what == MERGE_ADD;
	m->renewed += what == MERGE_RENEW;
	m->known += what == MERGE_KNOWN || what == MERGE_WORDS;
	m->edited += what == MERGE_WORDS;
	m->busy += what == MERGE_BUSY;
}
