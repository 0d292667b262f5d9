/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The bottom row of a terminal, kept for one line of ours while other programs print above it: they
 * are shown a terminal of one row less, and what they print scrolls in a region that ends above.
 */
#ifndef BASE_BOTTOM_ROW_H
#define BASE_BOTTOM_ROW_H

#include <stdbool.h>
#include <sys/ioctl.h>

struct bottom_row {
	int fd;              /* the terminal, not owned; it does not block */
	bool is_reserved;    /* the row is ours, and: */
	struct winsize full; /* the size without us */
};

/*
 * 0: lines can be drawn on @fd, which no other process does. -ENOTTY: it is no terminal;
 * -EOPNOTSUPP: one that cannot do it (TERM), or is too small; -EBUSY: another process has its
 * bottom row; -EWOULDBLOCK: writing to it would block. Holds the row's lock as long as @fd is open.
 */
int bottom_row_open(struct bottom_row *b, int fd);
/*
 * Draws @text, which has no control characters, cut to the terminal's width, in one write; reserves
 * the row first, or again when the terminal has another size. @is_inverse: in inverse video. 0, or
 * a negative errno: nothing was drawn.
 */
int bottom_row_draw(struct bottom_row *b, const char *text, bool is_inverse);
/* Whether the terminal has got another size since the row was reserved. */
bool bottom_row_has_moved(const struct bottom_row *b);
/* Clears the row and gives it back, if it is reserved. */
void bottom_row_release(struct bottom_row *b);

#endif
