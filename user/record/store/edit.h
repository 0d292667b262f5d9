/* SPDX-License-Identifier: BSD-2-Clause */
/* A run in a store gets another name, note or tags. */
#ifndef RECORD_STORE_EDIT_H
#define RECORD_STORE_EDIT_H

#include "store/database.h"
#include "wire/meta_editor.h"

/*
 * Changes the run @id, its row, its tags and its meta line, in one transaction. -ENOENT: it is not
 * there (any more); errors of meta_edit(), and of database_open(). @d->why has the words.
 */
int store_edit_run(struct database *d, int64_t id, const struct meta_changes *c);

#endif
