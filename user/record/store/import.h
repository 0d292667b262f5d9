/* SPDX-License-Identifier: BSD-2-Clause */
/* Runs in a file of JSON Lines, taken over into a store. */
#ifndef RECORD_STORE_IMPORT_H
#define RECORD_STORE_IMPORT_H

#include "record/store/writer.h"
#include "store/merge.h"

#include <stdio.h>

struct import {
	struct store_writer *w; /* open; not owned */
	struct merged *merged;
	uint64_t unreadable; /* lines, the last one where it is cut off included */
};

/*
 * All runs of @f, which can be sought in; what was taken over by then stays when an error ends it.
 * Errors as database_open(), and -EBADMSG: its first line is none of kind meta.
 */
int import_lines(struct import *i, FILE *f);

#endif
