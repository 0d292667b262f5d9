/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts an SVG to PNG or PDF with an external program: rsvg-convert, else a Chromium. */
#ifndef BPFMON_PICTURE_H
#define BPFMON_PICTURE_H

#include <stddef.h>

struct picture {
	const char *format;   /* "png" or "pdf" */
	double width, height; /* of the SVG, in pixels of 1/96 inch */
	double scale;         /* pixels of the PNG per pixel of the SVG */
};

/*
 * Draws @svg into *@out, which the caller frees, of *@out_length bytes. Waits up to a minute for
 * the program and leaves no files behind. Returns 0, -ENOENT if no such program is installed, or
 * another negative errno; reports errors, with @path.
 */
int picture_draw(const struct picture *p, const char *path, const char *svg, size_t length,
		 char **out, size_t *out_length);

#endif
