/* SPDX-License-Identifier: BSD-2-Clause */
/* Whether a file has the tables that a bpfmon makes, before anything is read from them. */
#ifndef STORE_SHAPE_H
#define STORE_SHAPE_H

#include "store/database.h"

/*
 * The schema of @version, as it is and nothing that runs: tables with plain columns, indexes on
 * columns, and views, which are never read. -EUCLEAN: it is another; errors as database_open().
 */
int shape_check(struct database *d, int64_t version);
/*
 * Opens an empty database in memory with the tables of @version, and none of the metrics; the
 * caller closes *@db, also after an error. An SQLite status.
 */
int shape_make(sqlite3 **db, int64_t version);

#endif
