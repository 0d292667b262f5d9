/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `bpfmon` as a child: what it prints is an answer. So pages have what the command line has, and
 * its memory ends with it.
 */
#ifndef WEB_CHILD_H
#define WEB_CHILD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define CHILD_WORDS 256
#define CHILD_OUTPUT "/proc/self/fd/3" /* with @as_file: the path to name as its output */

struct child {
	pid_t pid;
	int fd;         /* what it writes */
	bool has_ended; /* all of it was read */
};

/*
 * Starts @program with @words, up to NULL, without stdin. What it writes to stdout is read at @fd;
 * with @as_file what it writes to CHILD_OUTPUT; with @with_errors its messages, too. A negative
 * errno.
 */
int child_start(struct child *c, const char *program, char *const *words, bool as_file,
		bool with_errors);
/* Reads up to @size bytes, 0 at the end; a child that is silent for a minute is ended: -ETIME. */
ssize_t child_read(struct child *c, void *out, size_t size);
/* Waits for it; ends it unless all that it wrote was read. Returns its exit status; -1: it was
 * ended. */
int child_end(struct child *c);

#endif
