/* SPDX-License-Identifier: BSD-2-Clause */
/* A place to write lines to: whole lines or nothing, and an old file is lost to no failed start. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include "base/patience.h"
#include "base/path_end.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output {
	int fd;
	int old_fd;         /* of the file that is replaced, until output_commit(); or -1 */
	const char *path;   /* not owned; "-": stdout */
	struct path_end at; /* the folder, and the file there, links followed */
	char *temporary;    /* owned; its name in that folder until output_commit() */
	bool is_new;        /* nothing had its name, and what has it by then keeps it */
	bool is_ours;       /* created by us: removed when nothing comes */
	bool is_regular;    /* can be cut back to whole lines */
	bool is_short_of_memory;
	const char *why; /* static; it was refused for a reason that strerror() does not know */
	int error;       /* the first write that failed; then nothing is written any more */
	off_t whole;     /* bytes of whole lines */
	struct patience *patience; /* with its reader, not owned; NULL: without end */
	char *buffer;              /* owned */
	size_t used, room;
};

/*
 * Opens @path for writing. An existing regular file is refused (-EEXIST) unless @force; then a
 * temporary file beside it takes its place at output_commit(), with its owner, group, ACL and mode
 * (but no set-user-ID bit), or is refused where it cannot have them; other names (hard links) keep
 * the old file. One that is being written, by another bpfmon or as another output of ours, is
 * refused in any case (-EALREADY). In a folder that everybody may write to, no link is followed and
 * no file or pipe is replaced or written that is another user's, but root's (path_end_find()).
 * A pipe that nobody reads is not waited for (-EAGAIN).
 * After an error nothing is left open, and output_error() says why.
 */
int output_open(struct output *o, const char *path, bool force);
/*
 * The same for what is of use only when it is whole: a new file, too, is a temporary one until
 * output_commit(), which is to be called when all is written, and is refused (-EEXIST) where
 * something has got the name by then.
 */
int output_open_whole(struct output *o, const char *path, bool force);
/* The reason for the error @err of one of these, for the user, without a full stop. */
const char *output_error(const struct output *o, int err);
/* An open descriptor, which stays open. */
void output_open_fd(struct output *o, int fd);
/* Something comes: the file takes its name. */
int output_commit(struct output *o);
/* After that: removes the file again, unless it has replaced another. */
void output_remove_new(const struct output *o);
void output_put(struct output *o, const char *text, size_t length);
/* Writes what was put. A negative errno the first time it fails, then 0. */
int output_flush(struct output *o);
/* Closes; a file to which nothing came is removed. A negative errno: the last write failed. */
int output_close(struct output *o);

#endif
