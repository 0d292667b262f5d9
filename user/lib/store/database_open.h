/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the file of a store: creates it, or checks that it is a store. */
#ifndef STORE_DATABASE_OPEN_H
#define STORE_DATABASE_OPEN_H

#include "store/database.h"

enum database_mode {
	DATABASE_READ,
	DATABASE_WRITE,
	DATABASE_CHANGE, /* as DATABASE_WRITE, but the file must exist */
};

/*
 * Opens @path, which may be of any origin, with the precautions of database.h and schema.h, and
 * bounds the work of reading. For writing, creates a missing file with its folders, and refuses a
 * file of another user with -EPERM. Returns -EAGAIN if a writer has locked the file, -EUCLEAN if it
 * is damaged or not a store, -EPROTONOSUPPORT for another schema version, or another negative
 * errno; @d->why has the reason and the remedy.
 */
int database_open(struct database *d, const char *path, enum database_mode mode);
void database_close(struct database *d);
/*
 * Attaches @path as `other`. @is_unchanging is that of the struct database that opened it before.
 */
int database_attach(struct database *d, const char *path, bool is_unchanging);
/* Returns whether the file system supports write-ahead logging, which needs shared memory. */
bool database_is_local(unsigned long file_system_magic);

#endif
