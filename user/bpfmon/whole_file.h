/* SPDX-License-Identifier: BSD-2-Clause */
/* Writes files that get their final name only when complete. */
#ifndef BPFMON_WHOLE_FILE_H
#define BPFMON_WHOLE_FILE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Writes @text to @path ("-": stdout), completely or not at all; replaces a file only with @force.
 * Returns 0, or a negative errno after a message to the user, in which @what names the text.
 */
int whole_file_write(const char *what, const char *path, bool force, const char *text,
		     size_t length);

/*
 * Checks, before work that takes long, whether writing would succeed; writes nothing. Returns 0, or
 * a negative errno after the same message.
 */
int whole_file_check(const char *what, const char *path, bool force);

/*
 * Removes a regular file that whole_file_write() would replace with @force, and nothing else; an
 * error is not reported, because there is one already.
 */
void whole_file_remove(const char *path);

/*
 * Prints on stderr where the @what is, if @path is a file ("-" is none). @also: a second path, or
 * NULL.
 */
void whole_file_announce(const char *what, const char *path, const char *also);

/*
 * Defers signals that would end the process while a file is written, so that incomplete files are
 * removed. From now on they are only noted; ignored ones stay ignored.
 */
void stop_signals_catch(void);
/* Returns true if a deferred signal came. */
bool stop_signals_came(void);
/* Restores the default action of these signals; one that came ends the process here. */
void stop_signals_release(void);

#endif
