/* SPDX-License-Identifier: BSD-2-Clause */
/* The colours of many runs: by name, else by a tag, and of failed runs. */
#ifndef PAGE_MANY_GROUPS_H
#define PAGE_MANY_GROUPS_H

#include "store/query.h"

#include <stdio.h>

#define MANY_NAMED 5           /* groups with a colour of their own */
#define MANY_OTHERS MANY_NAMED /* of further names */
#define MANY_FAILED (MANY_NAMED + 1)
#define NR_MANY_GROUPS (MANY_NAMED + 2)

struct many_name {
	const char *text; /* not owned; without NUL */
	size_t length;
};

struct many_groups {
	char *tag;                         /* owned; of the groups; NULL: the name of the run */
	struct many_name name[MANY_NAMED]; /* the most frequent first */
	size_t nr_named;
	size_t count[NR_MANY_GROUPS];
	unsigned char *of; /* owned; of each run */
};

/* Groups the runs of a list. Returns 0 or -ENOMEM; call many_groups_done() in any case. */
int many_groups_make(struct many_groups *g, const struct stored_runs *all);
void many_groups_done(struct many_groups *g);
/* Writes which colour is which group; nothing if all runs have the same. */
void many_groups_put_keys(FILE *f, const struct many_groups *g);

#endif
