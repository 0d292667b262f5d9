/* SPDX-License-Identifier: BSD-2-Clause */
/* A run in a store gets another name, note or tags: of its user, or of an edit elsewhere. */
#ifndef STORE_EDIT_H
#define STORE_EDIT_H

#include "run/rewriter.h"
#include "store/database.h"

/*
 * Changes the run @id, its row, its tags and its meta line, in one transaction. -ENOENT: it is not
 * there (any more); errors of meta_edit(), and of database_open(). @d->why has the words.
 */
int store_edit_run(struct database *d, int64_t id, const struct meta_changes *c);
/*
 * Gives the run @id name, note and tags as the meta line @from has them; nothing where that is not
 * a line that bpfmon writes. Within the caller's transaction; errors as above.
 */
int store_take_words(struct database *d, int64_t id, const char *from);

#endif
