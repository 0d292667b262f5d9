/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reads an INI file by libinih, which finds keys and values. It is given one line at a time,
 * because as distributions build it it does not say which line a key is in, cuts long lines and
 * names of sections, and joins indented lines to the key before them.
 */
#ifndef CONFIG_INI_H
#define CONFIG_INI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct ini {
	FILE *f;
	const char *name; /* of the file, for messages */
	void *context;    /* of the functions */
	/* A section begins, and a key is set; both return 0, or an error, by ini_refuse(). */
	int (*section)(struct ini *in, const char *name);
	int (*key)(struct ini *in, const char *key, const char *value);
	bool needs_section; /* no key stands before the first section */
	const char *first;  /* the one that a message proposes then */
	char *why;          /* room for the reason of an error */
	size_t size;
	/* set while it is read */
	unsigned line;
	int err; /* the first; then nothing more is read */
	bool has_section;
};

/*
 * Reads all of @in->f. 0; or a negative errno, and in @in->why one sentence without a full stop,
 * "FILE:LINE: what is wrong; what is allowed". -EINVAL: the file says something wrong.
 */
int ini_read(struct ini *in);
/* Notes the first error, in the line that is being read; returns it. */
int ini_refuse(struct ini *in, int err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
