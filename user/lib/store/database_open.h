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
 * Opens @path with the precautions of database.h and schema.h, because it may be of any origin; the
 * work of reading is bounded. For writing, missing folders and a missing file are created, and a
 * file of another user is refused with -EPERM. Returns -EAGAIN if the file is locked by a writer,
 * -EUCLEAN if it is damaged or not a store, -EPROTONOSUPPORT if its schema has another version, or
 * another negative errno. After an error @d->why has the reason and the remedy.
 */
int database_open(struct database *d, const char *path, enum database_mode mode);
void database_close(struct database *d);
/*
 * Attaches @path as `other`. @is_unchanging is that of the struct database that opened it before.
 */
int database_attach(struct database *d, const char *path, bool is_unchanging);
/* Returns whether write-ahead logging is safe on the file system: it needs shared memory. */
bool database_is_local(unsigned long file_system_magic);

#endif
