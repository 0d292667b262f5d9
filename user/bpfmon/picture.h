/* SPDX-License-Identifier: BSD-2-Clause */
/* An SVG as PNG or PDF, by a program that draws it: rsvg-convert, else a Chromium. */
#ifndef BPFMON_PICTURE_H
#define BPFMON_PICTURE_H

#include <stddef.h>

struct picture {
	const char *format;   /* "png" or "pdf" */
	double width, height; /* of the SVG in pixels, 1/96 inch */
	double scale;         /* pixels of the PNG for one of these */
};

/*
 * Draws @svg. The result is *@out, to be freed, of *@out_length bytes. -ENOENT where there is none
 * of the programs, or another negative errno, after one line to the user, which names @path. Waits
 * a minute for the program, and leaves no files.
 */
int picture_draw(const struct picture *p, const char *path, const char *svg, size_t length,
		 char **out, size_t *out_length);

#endif
