/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a store: its file, its schema, and each value. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/database.h"

/*
 * Checks all of an open file. *@rows_left: number of rows without a run. -EUCLEAN, -EFBIG: it is
 * damaged, and @d->why has the place; other errors as database_open().
 */
int store_check(struct database *d, int64_t *rows_left);
/* The same for a file to merge, without the indexes, which a merge does not read. */
int store_check_source(struct database *d);

#endif
