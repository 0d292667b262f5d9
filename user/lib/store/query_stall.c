// SPDX-License-Identifier: BSD-2-Clause
/* Whether a run is stalled, from the events that are kept of it. */
#include "store/query.h"
#include "store/table_column.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

/*
 * A stalled run executes nothing, so that its last event of a stall is among its last ones, unless
 * it was sent that many lines meanwhile.
 */
#define LOOKED_AT "10000"

/* The event at which the statement is, if it is one of a stall. */
static bool stall_take_row(struct row *r, struct stall_state *stall)
{
	const char *name = row_text(r, 1), *text;
	json_t *event;
	bool is_one;

	if (!name || (strcmp(name, "stalled") != 0 && strcmp(name, "resumed") != 0))
		return false;
	text = row_needed_text(r, 2);
	event = text ? json_loads(text, JSON_ALLOW_NUL, NULL) : NULL;
	is_one = event && stall_state_take(stall, event);
	json_decref(event);
	return is_one;
}

int query_stall(struct database *d, int64_t id, int64_t *last, struct stall_state *stall)
{
	sqlite3_stmt *s = NULL;
	int rc = sqlite3_prepare_v2(d->db,
				    "SELECT seq, event, line FROM event WHERE run=?1 AND seq>?2"
				    " ORDER BY seq DESC LIMIT " LOOKED_AT,
				    -1, &s, NULL);
	struct row r = { .d = d, .s = s, .table = "event" };
	int64_t newest = *last;
	bool is_found = false;

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 1, id);
	if (rc == SQLITE_OK)
		rc = sqlite3_bind_int64(s, 2, *last);
	while ((rc == SQLITE_OK || rc == SQLITE_ROW) && !is_found && !r.err) {
		rc = sqlite3_step(s);
		if (rc != SQLITE_ROW)
			break;
		if (sqlite3_column_int64(s, 0) > newest)
			newest = sqlite3_column_int64(s, 0);
		is_found = stall_take_row(&r, stall);
	}
	sqlite3_finalize(s);
	if (r.err || (rc != SQLITE_ROW && rc != SQLITE_DONE))
		return r.err ? r.err : database_error(d, rc);
	*last = newest;
	return 0;
}
