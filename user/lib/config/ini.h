/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads an INI file by libinih, which finds keys and values. It gets one line at a time: as built
 * by distributions it does not report the line of a key, cuts long lines and section names, and
 * joins indented lines to the key before.
 */
#ifndef CONFIG_INI_H
#define CONFIG_INI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ini {
	FILE *f;
	const char *name; /* of the file, for messages */
	void *context;    /* for the functions below */
	/* Called for each section and key; return 0, or an error by ini_refuse(). */
	int (*section)(struct ini *in, const char *name);
	int (*key)(struct ini *in, const char *key, const char *value);
	bool needs_section; /* refuse keys before the first section */
	const char *first;  /* section to propose in that message */
	char *why;          /* buffer for the reason of an error */
	size_t size;
	/* set during reading */
	unsigned line;
	int err; /* the first error, which stops reading */
	bool has_section;
};

/*
 * Reads all of @in->f. Returns 0, or a negative errno with one sentence in @in->why, without a full
 * stop: "FILE:LINE: what is wrong; what is allowed". -EINVAL for wrong contents.
 */
int ini_read(struct ini *in);
/* Notes the first error, at the current line, and returns it. */
int ini_refuse(struct ini *in, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
