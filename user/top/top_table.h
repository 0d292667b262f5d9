/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The rows of the table: the tree of a scene, sorted, filtered and folded, and the ended processes
 * and spans below it.
 */
#ifndef TOP_TOP_TABLE_H
#define TOP_TOP_TABLE_H

#include "top/scene.h"
#include "top/top_column.h"

#define MAX_FOLDED 512
#define MAX_DEPTH 60 /* deeper rows are drawn at this depth */
#define FILTER_BYTES 64

enum row_kind {
	ROW_RUN, /* the whole run */
	ROW_TASK,
	ROW_SPAN,  /* above the process that began it */
	ROW_ENDED, /* heading of programs of ended processes */
	ROW_PROGRAM,
	ROW_SPANS, /* heading of ended spans */
	ROW_SPAN_NAME,
};

/* Identifies a row, independent of its position. */
struct row_key {
	enum row_kind kind;
	uint64_t id; /* start time of a task; number of a span or program */
	int32_t pid;
};

struct table_row {
	struct row_key key;
	uint32_t index; /* of the actor, ended program, span or span name */
	uint8_t depth;
	bool is_last;    /* last child of its parent */
	uint64_t guides; /* bit per depth at which a vertical line continues */
	bool can_fold, is_folded;
};

/* Ended spans of one name. */
struct span_name {
	const char *name; /* owned by the model */
	uint64_t nr;
	struct usage used;
};

struct row_choice {
	enum column_id sort;
	bool is_reversed, is_flat, hides_ended;
	char filter[FILTER_BYTES];
	struct row_key folded[MAX_FOLDED];
	size_t nr_folded;
};

struct table {
	struct table_row *list; /* owned */
	size_t nr, room;
	struct span_name *spans; /* owned */
	size_t nr_spans, room_spans;
	struct span_name all_spans; /* their sum */
	/* owned, per actor: display order; index + 1 of first child and next sibling */
	uint32_t *order, *first, *next;
	double *number;
	bool *is_shown;
	size_t room_actors;
};

bool row_key_is(const struct row_key *a, const struct row_key *b);
/* Builds the rows. Returns 0 or -ENOMEM. */
int table_build(struct table *r, const struct model *m, const struct scene *s,
		const struct row_choice *c);
void table_done(struct table *r);
/* Toggles the folding of a row. */
void row_choice_fold(struct row_choice *c, const struct row_key *key);
/* Sets the values of a row, except those from /proc. */
void row_values(const struct table *r, const struct model *m, const struct scene *s,
		const struct table_row *row, struct row_values *v);

#endif
