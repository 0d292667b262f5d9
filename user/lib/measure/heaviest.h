/* SPDX-License-Identifier: BSD-2-Clause */
/* Which live processes hold the most resident memory. */
#ifndef MEASURE_HEAVIEST_H
#define MEASURE_HEAVIEST_H

#include "bpfmon/shared.h"

#include <stddef.h>

struct heaviest {
	const struct drain_row **rows; /* owned, what they point to is not; the heaviest first */
	size_t nr, room;
};

/*
 * Sets @h->rows to the @most heaviest of @rows, which are sorted by address space; of equals the
 * lower PID comes first. Processes that have ended, or have no address space, are left out. A
 * shared address space counts once, for its oldest process. -ENOMEM: @h->rows is empty.
 */
int heaviest_find(struct heaviest *h, const struct drain_row *const *rows, size_t nr_rows,
		  size_t most);
void heaviest_done(struct heaviest *h);

#endif
