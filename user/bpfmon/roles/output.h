/* SPDX-License-Identifier: BSD-2-Clause */
/* A destination for lines: whole lines or nothing, and no failed start destroys an old file. */
#ifndef ROLES_OUTPUT_H
#define ROLES_OUTPUT_H

#include "base/path_end.h"
#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output {
	int fd;
	int old_fd;         /* of the file that is replaced, until output_commit(); or -1 */
	const char *path;   /* not owned; "-": stdout */
	struct path_end at; /* the folder, and the file there, links followed */
	char *temporary;    /* owned; its name in that folder until output_commit() */
	bool is_new;        /* the name was free; a file that takes it before the commit stays */
	bool is_ours;       /* created here: removed unless committed */
	bool is_regular;    /* can be cut back to whole lines */
	bool is_short_of_memory;
	const char *why;           /* static; a reason that strerror() does not know */
	int error;                 /* of the first write that failed; nothing is written after it */
	off_t whole;               /* bytes of whole lines */
	struct patience *patience; /* with its reader, not owned; NULL: without end */
	char *buffer;              /* owned */
	size_t used, room;
};

/*
 * Opens @path for writing. An existing regular file is refused (-EEXIST) unless @force; then a
 * temporary file beside it takes its place at output_commit(), with its owner, group, ACL and mode
 * (but no set-user-ID bit), or is refused where it cannot have them; other names (hard links) keep
 * the old file. A file that is being written, by another bpfmon or as another output of this one,
 * is refused in any case (-EALREADY). In a folder that everybody may write to, no link is followed
 * and no file or pipe is replaced or written that is another user's, but root's (path_end_find()).
 * A pipe without a reader is not waited for (-EAGAIN).
 * After an error nothing is left open, and output_error() has the reason.
 */
int output_open(struct output *o, const char *path, bool force);
/*
 * The same for output that is useful only as a whole: a new file, too, has a temporary name until
 * output_commit(), which is called when all is written, and fails (-EEXIST) if the name has been
 * taken meanwhile.
 */
int output_open_whole(struct output *o, const char *path, bool force);
/* The reason for the error @err of these functions, for a message, without a full stop. */
const char *output_error(const struct output *o, int err);
/* Writes to an open descriptor; output_close() leaves stdin, stdout and stderr open. */
void output_open_fd(struct output *o, int fd);
/* The file takes its name. */
int output_commit(struct output *o);
/* Removes a committed file, unless it has replaced another. */
void output_remove_new(const struct output *o);
void output_put(struct output *o, const char *text, size_t length);
/* Writes the buffer. A negative errno the first time this fails, then 0. */
int output_flush(struct output *o);
/* Flushes and closes; an uncommitted file is removed. A negative errno: a last write failed. */
int output_close(struct output *o);

#endif
