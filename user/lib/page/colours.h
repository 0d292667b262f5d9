/* SPDX-License-Identifier: BSD-2-Clause */
/* The colours of pictures: those of the page's light theme. */
#ifndef PAGE_COLOURS_H
#define PAGE_COLOURS_H

#define NR_COLOURS 7 /* by the number that a curve has in spec.c */

extern const char *const line_colours[NR_COLOURS], *const fill_colours[NR_COLOURS];

#endif
