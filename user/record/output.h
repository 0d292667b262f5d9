/* SPDX-License-Identifier: BSD-2-Clause */
/* A place to write lines to: whole lines or nothing, and an old file is lost to no failed start. */
#ifndef RECORD_OUTPUT_H
#define RECORD_OUTPUT_H

#include "base/patience.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct output {
	int fd;
	int old_fd;       /* of the file that is replaced, until output_commit(); or -1 */
	const char *path; /* not owned; "-": stdout */
	char *target;     /* owned; what is replaced, links followed */
	char *temporary;  /* owned; its name until output_commit() */
	bool is_new;      /* nothing had its name, and what has it by then keeps it */
	bool is_ours;     /* created by us: removed when nothing comes */
	bool is_regular;  /* can be cut back to whole lines */
	bool is_short_of_memory;
	int error;   /* the first write that failed; then nothing is written any more */
	off_t whole; /* bytes of whole lines */
	struct patience *patience; /* with its reader, not owned; NULL: without end */
	char *buffer;              /* owned */
	size_t used, room;
};

/*
 * Opens @path for writing. An existing regular file is refused (-EEXIST) unless @force; then a
 * temporary file beside it takes its place at output_commit(). One that is being written, by
 * another bpfmon or as another output of ours, is refused in any case (-EALREADY). A pipe that
 * nobody reads is not waited for (-EAGAIN).
 */
int output_open(struct output *o, const char *path, bool force);
/*
 * The same for what is of use only when it is whole: a new file, too, is a temporary one until
 * output_commit(), which is to be called when all is written, and is refused (-EEXIST) where
 * something has got the name by then.
 */
int output_open_whole(struct output *o, const char *path, bool force);
/* An open descriptor, which stays open. */
void output_open_fd(struct output *o, int fd);
/* Something comes: the file takes its name. */
int output_commit(struct output *o);
void output_put(struct output *o, const char *text, size_t length);
/* Writes what was put. A negative errno the first time it fails, then 0. */
int output_flush(struct output *o);
/* Closes; a file to which nothing came is removed. A negative errno: the last write failed. */
int output_close(struct output *o);

#endif
