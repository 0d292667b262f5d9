/* SPDX-License-Identifier: BSD-2-Clause */
/* What SQLite takes a file by, and the files beside it. */
#ifndef STORE_FILE_NAME_H
#define STORE_FILE_NAME_H

#include <stdbool.h>

/* The path as a URI with the parameters @how; by sqlite3_free(). NULL without memory. */
char *uri_of(const char *path, const char *how);
/* Whether changes are in the write-ahead log beside it. */
bool has_log(const char *path);
/* The ending of what lies beside @path, where SQLite looks for a journal or log, and is no file:
 * a pipe would be waited for. NULL: there is none. */
const char *beside_that_is_no_file(const char *path);

#endif
