/* SPDX-License-Identifier: BSD-2-Clause */
/* What jansson has read, written by our own writer: jansson's leaves characters as they are that
 * steer a terminal. */
#ifndef RUN_TREE_H
#define RUN_TREE_H

#include "base/buffer.h"
#include "base/json.h"

#include <jansson.h>
#include <stdio.h>

/* Appends @v under @key, as those of base/json.h do; @v of NULL as null. */
void tree_write(struct jsonw *j, const char *key, const json_t *v);
/* Appends the texts of @list with blanks between, inert for a terminal. Whether there are any. */
bool tree_put_words(struct buffer *t, const json_t *list);
/* Prints the texts and whole numbers of @list with blanks between, as they are. */
void tree_print_words(FILE *f, const json_t *list);

/*
 * The members of a struct as keys of a JSON object, written and read by one table. What is read is
 * of unknown origin: every key must be in the table, every value of its type and in its range.
 */

enum field_type {
	FIELD_TEXT,   /* char[]; an empty one is left out */
	FIELD_STRING, /* const char *, which points into what was read; NULL is left out */
	FIELD_U64,    /* 0 is left out, as for the next two */
	FIELD_U32,
	FIELD_BOOL,
};

struct field {
	const char *key; /* NULL: after the last one */
	enum field_type type;
	size_t offset;
	uint64_t limit; /* the largest number; the most bytes of a text, its NUL included */
};

/* clang-format off */
#define FIELD_TEXT_OF(s, m)          { #m, FIELD_TEXT, offsetof(struct s, m), sizeof(((struct s *)0)->m) }
#define FIELD_STRING_OF(s, m, limit) { #m, FIELD_STRING, offsetof(struct s, m), limit }
#define FIELD_U64_OF(s, m, limit)    { #m, FIELD_U64, offsetof(struct s, m), limit }
#define FIELD_U32_OF(s, m, limit)    { #m, FIELD_U32, offsetof(struct s, m), limit }
#define FIELD_BOOL_OF(s, m)          { #m, FIELD_BOOL, offsetof(struct s, m), 1 }
/* clang-format on */

/* Writes the members of @from that are not empty into the object that is open. */
void fields_write(struct jsonw *j, const struct field *fields, const void *from);
/*
 * Reads them from @object (NULL: it has none) into @to, where those that are not there are left.
 * @others, which ends with NULL, are keys that the caller reads. -EBADMSG; @why then is what is
 * wrong with which key.
 */
int fields_read(json_t *object, const struct field *fields, const char *const *others, void *to,
		char *why, size_t size);
/*
 * Reads a text of less than @limit bytes. One that is longer is cut if it has grown by characters
 * of three bytes in the place of invalid ones; else false: it is too long, or none.
 */
bool field_read_text(const json_t *v, char *at, size_t limit);
/* Fills in @why for the value of @key; returns -EBADMSG. */
int fields_refuse(const char *key, const char *wrong, char *why, size_t size);

/* Numbers of a tree; absent is 0. */

/* A number with so many decimals, as a whole one. False, and *@n is left: it is none, or negative,
 * or there is no room for it; without decimals, it is more than NUMBER_MAX. All numbers of a run
 * are read here: what is out of range is absent. */
bool value_read_number(const json_t *v, unsigned decimals, uint64_t *n);
uint64_t member_read_number(const json_t *o, const char *key, unsigned decimals);
/* Seconds since 1970, as published in microseconds, in ns; 0: none that there is room for. */
uint64_t member_read_epoch(const json_t *o, const char *key);
/* A PID or a status, which may be negative. */
int32_t value_read_int32(const json_t *v);
/* False: it is not there. */
bool member_read_bytes(const json_t *o, const char *key, uint64_t *bytes);

#endif
