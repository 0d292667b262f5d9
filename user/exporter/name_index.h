/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds entries by their name. The entries are members of the structs that they find. */
#ifndef EXPORTER_NAME_INDEX_H
#define EXPORTER_NAME_INDEX_H

#include <stddef.h>
#include <stdint.h>

struct name_entry {
	struct name_entry *next; /* of those in the same place */
	char *name;              /* owned; NULL: in no index */
};

#define NAME_PLACES 4096

struct name_index {
	struct name_entry *places[NAME_PLACES];
	uint64_t seed; /* nobody who chooses names can choose their places */
	size_t nr;
};

void name_index_init(struct name_index *x);
/* The entry of that name; NULL: there is none. */
struct name_entry *name_index_find(const struct name_index *x, const char *name, size_t length);
/* Adds @e, which is in no index, under a copy of a name that is not there yet. 0, or -ENOMEM. */
int name_index_add(struct name_index *x, struct name_entry *e, const char *name, size_t length);
/* Removes @e, and frees its name. */
void name_index_remove(struct name_index *x, struct name_entry *e);

#endif
