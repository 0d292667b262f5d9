/* SPDX-License-Identifier: BSD-2-Clause */
/* The rows of the table: the tree of a scene sorted, filtered and folded; below it what has ended.
 */
#ifndef TOP_TOP_TABLE_H
#define TOP_TOP_TABLE_H

#include "top/scene.h"
#include "top/top_column.h"

#define MAX_FOLDED 512
#define MAX_DEPTH 60 /* of what is drawn; deeper ones are drawn there */
#define FILTER_BYTES 64

enum row_kind {
	ROW_RUN, /* the run as a whole */
	ROW_TASK,
	ROW_SPAN,  /* above the process that began it */
	ROW_ENDED, /* the heading of the programs of ended processes */
	ROW_PROGRAM,
	ROW_SPANS, /* the heading of spans that have ended */
	ROW_SPAN_NAME,
};

/* What a row is, whatever its place. */
struct row_key {
	enum row_kind kind;
	uint64_t id; /* of a task its start; of a span, a program: its number */
	int32_t pid;
};

struct table_row {
	struct row_key key;
	uint32_t index; /* of the actor, ended program, span or span name */
	uint8_t depth;
	bool is_last;    /* of its parent's children */
	uint64_t guides; /* a bit for each depth at which a line goes on */
	bool can_fold, is_folded;
};

/* Spans that have ended, by name. */
struct span_name {
	const char *name; /* of the model */
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
	/* of actors, owned: in their order; the first child and the next one, index + 1 */
	uint32_t *order, *first, *next;
	double *number;
	bool *is_shown;
	size_t room_actors;
};

bool row_key_is(const struct row_key *a, const struct row_key *b);
/* -ENOMEM. */
int table_build(struct table *r, const struct model *m, const struct scene *s,
		const struct row_choice *c);
void table_done(struct table *r);
/* Folds what is open, and opens what is folded. */
void row_choice_fold(struct row_choice *c, const struct row_key *key);
/* The values of a row but for those from /proc. */
void row_values(const struct table *r, const struct model *m, const struct scene *s,
		const struct table_row *row, struct row_values *v);

#endif
