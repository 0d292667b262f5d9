/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes name, note and tags of a run in a store: by its user, or to those of another store. */
#ifndef STORE_EDIT_H
#define STORE_EDIT_H

#include "run/rewriter.h"
#include "store/database.h"

/*
 * Changes the run @id, its row, its tags and its meta line, in one transaction. -ENOENT: there is
 * no such run; errors as meta_edit() and database_open(). @d->why has the message.
 */
int store_edit_run(struct database *d, int64_t id, const struct meta_changes *c);
/*
 * Sets name, note and tags of the run @id to those of the meta line @from; does nothing if bpfmon
 * does not write such a line. Call it within a transaction; errors as above.
 */
int store_take_words(struct database *d, int64_t id, const char *from);

#endif
