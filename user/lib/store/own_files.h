/* SPDX-License-Identifier: BSD-2-Clause */
/* SQLite's files of a store that is written: opened where the path was found to lead, and there
 * only. */
#ifndef STORE_OWN_FILES_H
#define STORE_OWN_FILES_H

/*
 * The name of a layer (VFS) over SQLite's access to files, for sqlite3_open_v2(); NULL: there is
 * no memory. With it a path that begins with /proc/self/fd/ is taken as it is: links are not
 * followed. In a folder that any user may write to, the store, its journal, its log and the index
 * of that are made anew or have to be regular files of the effective user's or root's with one
 * name: a journal that another user has planted would be played back. No journal of several
 * databases is opened, or removed. All else is left to SQLite.
 */
const char *own_files(void);

#endif
