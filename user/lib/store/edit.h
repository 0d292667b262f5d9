/* SPDX-License-Identifier: BSD-2-Clause */
/* Changes name, note and tags of a stored run, as its user requests or to those of another copy. */
#ifndef STORE_EDIT_H
#define STORE_EDIT_H

#include "run/rewriter.h"
#include "store/database.h"

/*
 * Changes the run @id in its row, its tags and its meta line, in one transaction. Returns -ENOENT
 * if there is no such run; other errors as meta_edit() and database_open(). @d->why has the
 * message.
 */
int store_edit_run(struct database *d, int64_t id, const struct meta_changes *c);
/*
 * Sets name, note and tags of the run @id to those of the meta line @from, within the caller's
 * transaction. Does nothing if @from is not a meta line of bpfmon. Errors as store_edit_run().
 */
int store_copy_words(struct database *d, int64_t id, const char *from);
/*
 * Replaces the meta line of the run @id by a later one, @text, within the caller's transaction.
 * Does nothing if a user has edited the run.
 */
int store_replace_meta(struct database *d, int64_t id, const char *text);

#endif
