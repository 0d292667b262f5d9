/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Pictures of many runs, in the colours of their groups: histograms and a scatter plot of two
 * metrics with the same bins; and the page that has them.
 */
#ifndef PAGE_MANY_PAGE_H
#define PAGE_MANY_PAGE_H

#include "store/query.h"
#include "study/distribution.h"
#include "study/values.h"

#include <stdio.h>

/* The colours of many runs: by name, else by a tag, and of failed runs. */

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

/* The page. */

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
