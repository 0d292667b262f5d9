/* SPDX-License-Identifier: BSD-2-Clause */
/* The charts of a part of a run, which a served page shows when it is zoomed. */
#ifndef PAGE_PAGE_WINDOW_H
#define PAGE_PAGE_WINDOW_H

#include "base/json.h"
#include "store/source.h"

/*
 * Writes {"charts":...} as charts_write() does, of the samples later than @from_ns after the start,
 * up to @to_ns. Returns 0, -ENOMEM, or an error of source_each().
 */
int page_window_write(struct source *s, uint64_t from_ns, uint64_t to_ns, struct jsonw *j);

#endif
