/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a page for many runs: histograms, and a scatter plot of two metrics with the same bins. */
#ifndef PAGE_MANY_PAGE_H
#define PAGE_MANY_PAGE_H

#include "study/values.h"

#include <stdio.h>

#define MANY_POINTS 1000

/*
 * Writes a page with a histogram of each metric, the first metric plotted against the second, and a
 * list of the runs, in the colours of struct many_groups. It has no script. @what describes the
 * selection of runs and may be any text; @sources has the prefixes of their ids. Of more than
 * MANY_POINTS runs only failed ones are listed, so that the page stays small. Returns 0 or -ENOMEM.
 * The caller checks ferror(@f).
 */
int many_page_write(FILE *f, const char *what, const struct many_values *v,
		    const struct stored_runs *all, const char *const *sources);

#endif
