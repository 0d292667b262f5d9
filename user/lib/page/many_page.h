/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes a page for many runs: histograms, and a scatter plot of two metrics with the same bins. */
#ifndef PAGE_MANY_PAGE_H
#define PAGE_MANY_PAGE_H

#include "study/values.h"

#include <stdio.h>

/*
 * Writes a page with a histogram of each metric, and the first metric plotted against the second.
 * It has no script. @what describes the selection of runs and may be any text. The size of the page
 * does not depend on the number of runs. Returns 0 or -ENOMEM. The caller checks ferror(@f).
 */
int many_page_write(FILE *f, const char *what, const struct many_values *v,
		    const struct stored_runs *all);

#endif
