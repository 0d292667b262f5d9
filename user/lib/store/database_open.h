/* SPDX-License-Identifier: BSD-2-Clause */
/* Opens the file of a store: created, or checked and refused. */
#ifndef STORE_DATABASE_OPEN_H
#define STORE_DATABASE_OPEN_H

#include "store/database.h"

enum database_mode {
	DATABASE_READ,
	DATABASE_WRITE,
	DATABASE_CHANGE, /* the same, of a file that must be there */
};

/*
 * Opens @path, of any origin, with the precautions of database.h and schema.h; for reading, the
 * work is bounded, too. For writing, it is created with its folders where it is missing; a file of
 * another user is refused (-EPERM). On an error @d->why has what is wrong, and what to do.
 * -EAGAIN: others write just now; -EUCLEAN: it is damaged, or no store; -EPROTONOSUPPORT: its
 * schema is of another version.
 */
int database_open(struct database *d, const char *path, enum database_mode mode);
void database_close(struct database *d);
/* Attaches @path, which was opened before with that @is_unchanging, as `other`. */
int database_attach(struct database *d, const char *path, bool is_unchanging);
/* Returns whether write-ahead logging, which needs shared memory, is safe on the file system. */
bool database_is_local(unsigned long file_system_magic);

#endif
