/* SPDX-License-Identifier: BSD-2-Clause */
/* Which processes held how much memory when the tree held the most. */
#ifndef RUN_HOLDER_H
#define RUN_HOLDER_H

#include "run/comm.h"

#include <stddef.h>
#include <stdint.h>

#define HOLDERS_KEPT 10

struct holder {
	int32_t pid;
	char comm[COMM_TEXT_BYTES];
	char *exe; /* owned; NULL: not known */
	uint64_t rss_bytes;
};

/* The largest, in falling order, and the number and sum of the others. */
struct holders {
	struct holder largest[HOLDERS_KEPT];
	size_t nr;
	uint64_t others, others_bytes;
};

/* Adds a copy of @h; if memory is short, without its path. */
void holders_add(struct holders *all, const struct holder *h);
void holders_done(struct holders *all);

#endif
