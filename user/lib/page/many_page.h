/* SPDX-License-Identifier: BSD-2-Clause */
/* Many runs as one page for a browser: histograms, and a scatter of two metrics with the same bins.
 */
#ifndef PAGE_MANY_PAGE_H
#define PAGE_MANY_PAGE_H

#include "study/values.h"

#include <stdio.h>

/*
 * Writes the page of all these runs: a histogram of each metric, and the first against the second.
 * It has no script, and the style of a report. @what: which runs they are, any text.
 * Its size is that of the bins, whatever the number of runs. -ENOMEM; the caller looks at
 * ferror(@f).
 */
int many_page_write(FILE *f, const char *what, const struct many_values *v,
		    const struct stored_runs *all);

#endif
