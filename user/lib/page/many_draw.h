/* SPDX-License-Identifier: BSD-2-Clause */
/* Pictures of many runs, in the colours of their groups: histograms and a scatter plot. */
#ifndef PAGE_MANY_DRAW_H
#define PAGE_MANY_DRAW_H

#include "page/many_groups.h"
#include "study/distribution.h"
#include "study/values.h"

/* What is drawn. */
struct many_drawn {
	const struct many_values *v;
	const struct stored_runs *all;
	const char *const *sources; /* prefixes of run ids, for run_ref_text() */
	const struct many_groups *groups;
	bool has_points;   /* few runs: a point for each, else shades and the first failed runs */
	size_t failed_end; /* failed runs from this one on have no point */
};

/* Returns the words for a key, such as "Wall time", or the key. */
const char *many_key_words(const char *key);
/* Returns whether a run has a point, and a row in the list that the point links to: #rNUMBER. */
bool many_run_is_listed(const struct many_drawn *m, size_t run);
void many_draw_histogram(FILE *f, const struct many_drawn *m, size_t metric,
			 const struct distribution *d);
/*
 * Draws metric 0 to the right and metric 1 upwards, with the histograms of both beside the plane.
 * Returns 0 or -ENOMEM.
 */
int many_draw_scatter(FILE *f, const struct many_drawn *m, const struct distribution *x,
		      const struct distribution *y);

#endif
