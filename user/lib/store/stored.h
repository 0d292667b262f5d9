/* SPDX-License-Identifier: BSD-2-Clause */
/* Inside of source/: how the parts of a run in the store are given. */
#ifndef STORE_STORED_H
#define STORE_STORED_H

#include "store/source.h"

#include <sqlite3.h>

/* A statement that is read beside others, at its next row or at its end. */
struct cursor {
	sqlite3_stmt *s; /* NULL: its rows are not wanted */
	bool is_row;
	uint64_t at_ns; /* of the row */
	int64_t last;   /* the number of the last event */
};

struct stored {
	struct database d;
	int64_t id;
	source_fn fn;
	void *context;
	struct cursor instances; /* of the samples that are being given */
	char path[];             /* as it was opened */
};

/*
 * Gives a line as it came, if it is of @parts; what cannot be read is counted, as in a file, and so
 * is what is not of the kinds in @may_be: the others have their own place. -ENOMEM, or what the
 * caller's function returned.
 */
int stored_give_line(struct source *s, unsigned parts, unsigned may_be, const char *text);
/* Gives the row that is in the line of @s as a part of @kind, which has no tree. */
int stored_give_row(struct source *s, enum line_kind kind);
/* Gives samples, and between them what befell at their times. Errors as source_each(). */
int stored_give_times(struct source *s, unsigned parts);

#endif
