/* SPDX-License-Identifier: BSD-2-Clause */
/* Phases and spans of a picture: lanes of bars with their names, and a tint behind the curves. */
#ifndef PAGE_BANDS_H
#define PAGE_BANDS_H

#include "page/page_run.h"

#include <stdio.h>

#define SPAN_LANES 3   /* of what is at the same time; what has no place in them is not drawn */
#define LANE_HEIGHT 15 /* pixels */

struct band {
	double start, end; /* seconds since the start of the run */
	const char *text;  /* of the run; NULL: it has no name */
	unsigned colour;   /* as of a curve */
	unsigned lane;     /* the uppermost is 0 */
};

struct bands {
	struct band *list; /* owned; those of a lane in the order of their time */
	size_t nr;
	unsigned lanes;
	bool has_phases; /* lane 0 has them */
};

/* Where they are drawn. */
struct band_place {
	double left, width, wall; /* of the time axis; @wall in seconds */
	double lanes_top;         /* of the uppermost lane */
	double plot_top, plot_height;
};

/* As long as @r lasts; -ENOMEM. bands_done() in any case. */
int bands_make(struct bands *b, const struct report_run *r);
void bands_done(struct bands *b);
/* Of all lanes, in pixels. */
double bands_height(const struct bands *b);
/* The phases behind the curves, then the lanes. Bars that are too thin to be seen are one. */
void bands_write(FILE *f, const struct bands *b, const struct band_place *place);

#endif
