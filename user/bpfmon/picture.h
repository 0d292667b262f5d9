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
 * Draws @svg. Stores the result in *@out, which the caller frees, and its length in *@out_length.
 * Returns 0, or after a message to the user that names @path, -ENOENT if no such program is
 * installed or another negative errno. Waits up to a minute for the program and leaves no files
 * behind.
 */
int picture_draw(const struct picture *p, const char *path, const char *svg, size_t length,
		 char **out, size_t *out_length);

#endif
