/* SPDX-License-Identifier: BSD-2-Clause */
/* The tables, but for the columns of metrics, which column.h adds. */
#ifndef STORE_SCHEMA_H
#define STORE_SCHEMA_H

#include <sqlite3.h>

#define SCHEMA_APPLICATION 0x6270666d /* PRAGMA application_id: "bpfm" */

/* Brings a file from @version, 0 of an empty one, to the next. An SQLite status. */
int schema_step(sqlite3 *db, int version);

#endif
