/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a store is whole: its file, its schema, and each value of it. */
#ifndef STORE_CHECK_H
#define STORE_CHECK_H

#include "store/database.h"

/*
 * Reads the whole of a file that is open. *@rows_left: rows of no run. -EUCLEAN, -EFBIG: it is
 * damaged, and @d->why has the place; other errors as database_open().
 */
int store_check(struct database *d, int64_t *rows_left);
/* The same of what a merge is to take over, without the indexes, which it does not read. */
int store_check_source(struct database *d);

#endif
