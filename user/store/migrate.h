/* SPDX-License-Identifier: BSD-2-Clause */
/* From the schema and the columns that a file has to those that we write. */
#ifndef STORE_MIGRATE_H
#define STORE_MIGRATE_H

#include "store/database.h"

/* Refuses what another program or a newer bpfmon has made; *@version of what may be used. */
int database_check(struct database *d, int64_t *version);
/* Reads which columns of metrics the file has. */
int database_columns(struct database *d);
/* Adds what is missing, in one transaction; a second process finds it done. */
int database_migrate(struct database *d, int64_t version);

#endif
