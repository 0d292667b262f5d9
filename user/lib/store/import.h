/* SPDX-License-Identifier: BSD-2-Clause */
/* Imports the runs of a JSON Lines file into a store. */
#ifndef STORE_IMPORT_H
#define STORE_IMPORT_H

#include "store/merge.h"
#include "store/store_writer.h"

#include <stdio.h>

struct import {
	struct store_writer *w; /* open; not owned */
	struct merged *merged;
	uint64_t unreadable; /* number of lines, including an incomplete last one */
};

/*
 * Imports all runs of @f, which must be seekable. After an error the runs imported before stay.
 * Returns -EBADMSG if the first line is not a meta line; other errors as database_open().
 */
int import_lines(struct import *i, FILE *f);

#endif
