/* SPDX-License-Identifier: BSD-2-Clause */
/* Imports the runs of a file of JSON Lines into a store. */
#ifndef STORE_IMPORT_H
#define STORE_IMPORT_H

#include "store/merge.h"
#include "store/store_writer.h"

#include <stdio.h>

struct import {
	struct store_writer *w; /* open; not owned */
	struct merged *merged;
	uint64_t unreadable; /* lines, an incomplete last one included */
};

/*
 * Imports all runs of @f, which must be seekable; runs imported before an error stay. Errors as
 * database_open(), and -EBADMSG: the first line is not of kind meta.
 */
int import_lines(struct import *i, FILE *f);

#endif
