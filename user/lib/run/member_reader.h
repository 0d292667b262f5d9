/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the members of a line by its table, in any order. Values in the form that bpfmon writes are
 * read from the text; for others, and for parts, a tree of the line is made.
 */
#ifndef RUN_MEMBER_READER_H
#define RUN_MEMBER_READER_H

#include "run/member.h"
#include "run/pull.h"

#include <jansson.h>

#define MOST_MEMBERS 128 /* of a table */

struct reading {
	struct pull pull;
	const char *text; /* the line */
	size_t length;
	json_t *tree;           /* owned; NULL: not needed so far */
	size_t most_tags;       /* that are left in the tree */
	bool is_plain;          /* the line is as bpfmon writes the values that were read */
	bool is_bad;            /* it is no JSON */
	bool has_begun;         /* a member comes before what is read */
	bool has[MOST_MEMBERS]; /* the value of the member was read, by its place in the table */
	bool seen[MOST_MEMBERS];
};

/* What is read: an object of the line. */
struct target {
	const struct member_table *table;
	unsigned in;                      /* the object, as in the table */
	void *of;                         /* the struct */
	const struct metric_set *metrics; /* that the line may have */
	/* Reads a part from the tree; returns false if it is not there. */
	bool (*part)(struct reading *r, void *of, const struct member *m, const json_t *v);
	/* Reads one from the text instead, or returns false and leaves r->pull.at; or NULL. */
	bool (*pull)(struct reading *r, void *of, const struct member *m);
};

/* Cuts names and tags in the tree, if most_tags has become known. */
void reading_cut(struct reading *r);
/* The tree of the line; NULL: it is no JSON, or there is no memory. */
json_t *reading_tree(struct reading *r);
/*
 * Reads the members of the object at r->pull.at, behind its brace, up to the end of the object; the
 * struct is all 0 before. Members that are not there stay so, and what decides whether they are is
 * false. Sets r->is_bad if the text ends within it.
 */
void members_read(struct reading *r, const struct target *t);
/* The same of a tree alone. */
void members_read_tree(struct reading *r, const struct target *t);

#endif
