/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes jansson's trees with our own writer, since jansson's does not escape characters that
 * control a terminal; and maps structs to JSON objects by tables.
 */
#ifndef RUN_TREE_H
#define RUN_TREE_H

#include "base/buffer.h"
#include "base/json.h"

#include <jansson.h>
#include <stdio.h>

/* Appends @v under @key like the functions of base/json.h. A NULL @v becomes null. */
void tree_write(struct jsonw *j, const char *key, const json_t *v);
/* Appends the texts of @list, made harmless for a terminal. Returns false if there are none. */
bool tree_put_words(struct buffer *t, const json_t *list);
/* Prints the texts and integers of @list, separated by blanks, unescaped. */
void tree_print_words(FILE *f, const json_t *list);

/*
 * Tables that map members of a struct to keys of a JSON object, for writing and reading. Input is
 * untrusted: every key must be in the table, and every value of its type and in its range.
 */

enum field_type {
	FIELD_TEXT,   /* char[]; omitted if empty */
	FIELD_STRING, /* const char *, pointing into the tree that was read; omitted if NULL */
	FIELD_U64,    /* omitted if 0, as are the next two */
	FIELD_U32,
	FIELD_BOOL,
};

struct field {
	const char *key; /* NULL: end of the table */
	enum field_type type;
	size_t offset;
	uint64_t limit; /* largest number; size of a text, its NUL included */
};

/* clang-format off */
#define FIELD_TEXT_OF(s, m)          { #m, FIELD_TEXT, offsetof(struct s, m), sizeof(((struct s *)0)->m) }
#define FIELD_STRING_OF(s, m, limit) { #m, FIELD_STRING, offsetof(struct s, m), limit }
#define FIELD_U64_OF(s, m, limit)    { #m, FIELD_U64, offsetof(struct s, m), limit }
#define FIELD_U32_OF(s, m, limit)    { #m, FIELD_U32, offsetof(struct s, m), limit }
#define FIELD_BOOL_OF(s, m)          { #m, FIELD_BOOL, offsetof(struct s, m), 1 }
/* clang-format on */

/* Writes the nonempty members of @from into the open object. */
void fields_write(struct jsonw *j, const struct field *fields, const void *from);
/*
 * Reads the members from @object into @to; NULL is an empty object. Missing members stay unchanged.
 * @others, NULL-terminated, are keys that the caller reads; it may be NULL. Returns 0, or -EBADMSG
 * with key and reason in @why.
 */
int fields_read(json_t *object, const struct field *fields, const char *const *others, void *to,
		char *why, size_t size);
/*
 * Reads a text of less than @limit bytes. Truncates a longer one if it grew by three-byte
 * replacements of invalid bytes; otherwise returns false, as for a value that is no text.
 */
bool field_read_text(const json_t *v, char *at, size_t limit);
/* Sets @why for the value of @key and returns -EBADMSG. */
int fields_refuse(const char *key, const char *wrong, char *why, size_t size);

/* Numbers of a tree; an absent number is 0. */

/*
 * Reads a number with @decimals decimals as an integer. Returns false, with *@n unchanged, if it is
 * not a number, negative or out of range (above NUMBER_MAX without decimals). All numbers of a run
 * are read here: those out of range become absent.
 */
bool value_read_number(const json_t *v, unsigned decimals, uint64_t *n);
uint64_t member_read_number(const json_t *o, const char *key, unsigned decimals);
/* Converts published seconds since 1970 to ns. Returns 0 if absent or out of range. */
uint64_t member_read_epoch(const json_t *o, const char *key);
/* Reads a PID or status, which may be negative. */
int32_t value_read_int32(const json_t *v);
/* Returns false if the key is missing. */
bool member_read_bytes(const json_t *o, const char *key, uint64_t *bytes);
/*
 * Returns the command of a meta line, or what was attached to, as the one line that lists have. It
 * is to be freed; NULL if it is absent or without memory.
 */
char *tree_command_text(const json_t *meta);

#endif
