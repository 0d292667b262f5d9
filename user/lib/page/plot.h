/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the curves of a chart are, within its panel. */
#ifndef PAGE_PLOT_H
#define PAGE_PLOT_H

#define PLOT_LEFT 68
#define CHARACTER_WIDTH 6.7 /* the width of one, about, at 11 px */

struct plot {
	double width, top, height, bottom;
};

#endif
