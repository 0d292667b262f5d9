/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads the members of a line by its table, in any order. Values in the form that bpfmon writes are
 * parsed from the text; for other values, and for parts, the line is parsed into a tree.
 */
#ifndef RUN_MEMBER_READER_H
#define RUN_MEMBER_READER_H

#include "run/member.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * A pull parser for JSON: the caller reads one key or value after the other and no tree is built.
 * It accepts the plain forms that bpfmon writes; the caller parses any other value with jansson. It
 * does not validate what it skips.
 */

struct pull {
	const char *at, *end;
	char *to;       /* destination of copied texts, each with a NUL; must have room for all */
	bool has_blank; /* a blank was skipped between keys and values */
};

/* Each of the functions returns false and leaves @p->at unchanged if the text does not match. */
bool pull_take(struct pull *p, const char *text, size_t n);
#define PULL_TAKE(p, text) pull_take(p, text, sizeof(text) - 1)
/*
 * Reads a number without sign and exponent and with at most @decimals digits after the point,
 * scaled by 10^@decimals. Does not match a number above @most.
 */
bool pull_number(struct pull *p, unsigned decimals, uint64_t most, uint64_t *v);
bool pull_int32(struct pull *p, int32_t *v);
/* Reads a string of printable ASCII without escapes; @text is its copy. */
bool pull_text(struct pull *p, const char **text, size_t *length);
/* Reads a key and its colon. @key points into the line; @is_plain means ASCII without escapes. */
bool pull_key(struct pull *p, const char **key, size_t *length, bool *is_plain);
/* Returns true if a value can end here. */
bool pull_is_end_of_value(const struct pull *p);
void pull_blanks(struct pull *p);
/* Skips a value of any kind. Returns false if the line ends within it. */
bool pull_skip(struct pull *p);

/* Members of a line. */

#define MOST_MEMBERS 128 /* largest size of a table */

struct reading {
	struct pull pull;
	const char *text; /* the line */
	size_t length;
	json_t *tree;           /* owned; NULL until needed */
	size_t most_tags;       /* number of tags to keep in the tree; 0: all */
	bool is_plain;          /* all values read so far have the form that bpfmon writes */
	bool is_bad;            /* the line is invalid JSON */
	bool has_begun;         /* a member precedes the text to read */
	bool has[MOST_MEMBERS]; /* the value was read, by index in the table */
	bool seen[MOST_MEMBERS];
};

/* Destination and rules for reading one object of the line. */
struct target {
	const struct member_table *table;
	unsigned in;                      /* id of the object in the table */
	void *of;                         /* the struct to fill in */
	const struct metric_set *metrics; /* metrics that the line may have */
	/* Reads a part from the tree; returns false if the part is missing. */
	bool (*part)(struct reading *r, void *of, const struct member *m, const json_t *v);
	/* Reads a part from the text, or returns false at the same position. May be NULL. */
	bool (*pull)(struct reading *r, void *of, const struct member *m);
};

/* Truncates names and tags in the tree if most_tags is set. */
void reading_cut(struct reading *r);
/* Returns the tree, parsed on first use; NULL if the line is invalid or memory ran out. */
json_t *reading_tree(struct reading *r);
/*
 * Reads the members of the object whose opening brace is just before r->pull.at, up to its end. The
 * struct must be zeroed before: missing members stay 0, and the bools that mark them as present
 * stay false. Sets r->is_bad if the text ends within the object.
 */
void members_read(struct reading *r, const struct target *t);
/* Reads the members from the tree only. */
void members_read_tree(struct reading *r, const struct target *t);

#endif
