/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Any file may claim to be a store, so every connection is opened as SQLite advises for databases
 * of unknown origin: nothing in the file runs, and the work that it can cause is bounded.
 */
#ifndef STORE_DEFENCE_H
#define STORE_DEFENCE_H

#include "store/database.h"

#define VALUE_MIB 64 /* a longer value is neither written nor read */

/*
 * Turns off views, triggers, extensions and functions that a schema could name, and sets limits on
 * texts and statements. An SQLite status.
 */
int defence_set_up(sqlite3 *db);
/*
 * Bounds the work of the statements that follow by the bytes of the files @path and, unless NULL,
 * @other; then they end with SQLITE_INTERRUPT. It counts steps of SQLite's machine, not time: a
 * slow disk or a busy machine changes nothing. @d must stay where it is; the bound lasts until
 * defence_lift_bound() or the end of the connection.
 */
void defence_bound(struct database *d, const char *path, const char *other);
void defence_lift_bound(struct database *d);
/* Counts @bytes that were read against the bound: -EUCLEAN when it is used up. */
int defence_count(struct database *d, uint64_t bytes);
/* Says in @d->why what is wrong with the file, after "it is damaged: ". Always -EUCLEAN. */
int database_damaged(struct database *d, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
