/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks a store: the file, the schema, and each value. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/database.h"

/*
 * Checks all of an open store, and counts the rows without a run in *@rows_left. Returns -EUCLEAN
 * or -EFBIG if it is damaged, and @d->why names the place; other errors as database_open().
 */
int store_check(struct database *d, int64_t *rows_left);
/* Checks a store to merge, without its indexes, which a merge does not read. */
int store_check_source(struct database *d);

#endif
