/* SPDX-License-Identifier: BSD-2-Clause */
/* Hash index of entries by name. An entry is the first member of the struct that it finds. */
#ifndef BOARD_NAME_INDEX_H
#define BOARD_NAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct name_entry {
	struct name_entry *next; /* in the same bucket */
	char *name;              /* owned; NULL if in no index */
};

#define NAME_PLACES 4096

struct name_index {
	struct name_entry *places[NAME_PLACES];
	uint64_t seed; /* random, so that chosen names cannot collide on purpose */
	size_t nr;
};

/* Returns a hash that is the same in every process; @seed makes it another one. */
uint64_t name_hash_stable(const char *name, size_t length, uint64_t seed);
void name_index_init(struct name_index *x);
/* Returns the entry @name of @length bytes, or NULL. */
struct name_entry *name_index_find(const struct name_index *x, const char *name, size_t length);
/* Adds @e, which is in no index, under a copy of @name, which must be new. Returns 0 or -ENOMEM. */
int name_index_add(struct name_index *x, struct name_entry *e, const char *name, size_t length);
/* Removes @e and releases its name. */
void name_index_remove(struct name_index *x, struct name_entry *e);

#endif
