/* SPDX-License-Identifier: BSD-2-Clause */
/* Which live processes hold the most resident memory. */
#ifndef JOB_HEAVIEST_H
#define JOB_HEAVIEST_H

#include "bpfmon/shared.h"

#include <stddef.h>

struct heaviest {
	const struct drain_row **rows; /* owned, what they point to is not; the heaviest first */
	size_t nr, room;
};

/* The pages that it holds in memory. */
__u64 resident_pages(const struct drain_row *row);
/*
 * Sets @h->rows to the @most heaviest of @rows, which are sorted by address space; of equals the
 * lower PID comes first. Who has ended, or has no address space, is none of them. One that is
 * shared counts once, for who began first. -ENOMEM: there are none.
 */
int heaviest_find(struct heaviest *h, const struct drain_row *const *rows, size_t nr_rows,
		  size_t most);
void heaviest_done(struct heaviest *h);

#endif
