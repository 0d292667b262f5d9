// SPDX-License-Identifier: BSD-2-Clause
#include "record/store/span_row.h"

#include "record/store/bind.h"
#include "store/column.h"
#include "store/row_table.h"
#include "wire/tree.h"

#include <errno.h>

/* A name and tags of one message, of which each byte may be six in JSON, and a summary. */
#define LARGEST_LINE (1U << 20)

static void span_bind_used(sqlite3_stmt *s, int at, const struct summary *used)
{
	struct metric_set columns;

	columns_of_span(&columns);
	metrics_bind(s, at, &columns, used->total.value, &used->total.have);
	amount_bind(s, parameter_find(s, ":wall_ns"), used->wall_ns);
}

int span_row_put(struct store_writer *w, const char *text, size_t length)
{
	const json_t *o = w->line.tree, *tags = json_object_get(o, "tags");
	struct jsonw of_tags = { 0 };
	sqlite3_stmt *s = w->span;
	int err;

	if (length > LARGEST_LINE) {
		w->unreadable++;
		return 0;
	}
	if (json_is_object(tags))
		tree_write(&of_tags, NULL, tags);
	span_bind_used(s, columns_bind(s, FIRST_COLUMN, &span_table, WRITTEN_FIRST, o),
		       &w->line.span.used);
	sqlite3_bind_int64(s, parameter_find(s, ":run"), w->run->id);
	sqlite3_bind_int64(s, parameter_find(s, ":seq"), ++w->run->spans);
	if (of_tags.text)
		sqlite3_bind_text(s, parameter_find(s, ":tags"), of_tags.text, (int)of_tags.used,
				  SQLITE_STATIC);
	sqlite3_bind_text(s, parameter_find(s, ":line"), text, (int)length, SQLITE_STATIC);
	err = of_tags.failed ? -ENOMEM : store_writer_run(w, s);
	jsonw_done(&of_tags);
	return err;
}
