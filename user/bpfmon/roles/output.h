/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A destination for lines: writes whole lines only, and a failed start never destroys an old file.
 */
#ifndef ROLES_OUTPUT_H
#define ROLES_OUTPUT_H

#include "base/path_end.h"
#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output {
	int fd;
	int old_fd;         /* file to be replaced, until output_commit(); or -1 */
	const char *path;   /* not owned; "-": stdout */
	struct path_end at; /* the folder and the file there, links resolved */
	char *temporary;    /* owned; name in that folder until output_commit() */
	bool is_new;        /* the name was free; a file that takes it before the commit stays */
	bool is_ours;       /* created here: removed unless committed */
	bool is_regular;    /* can be truncated to whole lines */
	bool is_short_of_memory;
	const char *why; /* static; a reason that strerror() does not know */
	int error;       /* errno of the first failed write; nothing is written after it */
	off_t whole;     /* bytes of whole lines */
	struct patience *patience; /* with its reader, not owned; NULL: unlimited */
	char *buffer;              /* owned */
	size_t used, room;
};

/*
 * Opens @path for writing. Refuses an existing regular file (-EEXIST) unless @force: then a
 * temporary file beside it replaces it at output_commit(), with its owner, group, ACL and mode (but
 * no set-user-ID bit); if it cannot have them, it is refused. Other hard links keep the old file.
 * Always refuses a file that another bpfmon or another output of this one is writing (-EALREADY).
 * In a folder that everybody may write to, follows no link, and neither replaces nor writes a file
 * or pipe of another user except root (path_end_find()). Does not wait for the reader of a pipe
 * (-EAGAIN). After an error nothing is left open, and output_error() returns the reason.
 */
int output_open(struct output *o, const char *path, bool force);
/*
 * Same for output that is useful only as a whole: a new file, too, has a temporary name until
 * output_commit(), which is called when all is written and fails with -EEXIST if the name has been
 * taken meanwhile.
 */
int output_open_whole(struct output *o, const char *path, bool force);
/* Returns the reason for error @err of these functions, for a message, without a full stop. */
const char *output_error(const struct output *o, int err);
/* Writes to an open descriptor. output_close() leaves stdin, stdout and stderr open. */
void output_open_fd(struct output *o, int fd);
/* Gives the file its final name. */
int output_commit(struct output *o);
/* Removes a committed file unless it has replaced another. */
void output_remove_new(const struct output *o);
void output_put(struct output *o, const char *text, size_t length);
/* Writes the buffer. Returns a negative errno the first time this fails, then 0. */
int output_flush(struct output *o);
/*
 * Flushes and closes; removes an uncommitted file. Returns a negative errno if the last write
 * failed.
 */
int output_close(struct output *o);

#endif
