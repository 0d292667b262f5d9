/* SPDX-License-Identifier: BSD-2-Clause */
/* Files that get their names when all of their text is written. */
#ifndef BPFMON_WHOLE_FILE_H
#define BPFMON_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes @text to @path ("-": stdout), whole or not at all; replaces a file only with @force. A
 * negative errno after one line to the user, in which @what names the text.
 */
int whole_file_write(const char *what, const char *path, bool force, const char *text,
		     size_t length);

/*
 * Whether that is possible, before work that takes long; nothing is written. A negative errno after
 * the same line.
 */
int whole_file_check(const char *what, const char *path, bool force);

/* Says on stderr where the @what is, if that is a file ("-" is none); @also: a second one, or NULL.
 */
void whole_file_announce(const char *what, const char *path, const char *also);

/*
 * Signals that end the process: while a file is written they wait until what was begun is removed.
 * From now on they are only noted; ignored ones stay ignored.
 */
void stop_signals_catch(void);
/* Whether one of them came. */
bool stop_signals_came(void);
/* From now on they end the process again; one that came does so here. */
void stop_signals_release(void);

#endif
