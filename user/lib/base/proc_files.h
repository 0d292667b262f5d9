/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The files in /proc of one process, read again and again: a descriptor that is kept saves two of
 * three system calls, and is of this process even when another has its PID.
 */
#ifndef BASE_PROC_FILES_H
#define BASE_PROC_FILES_H

#include <stddef.h>
#include <sys/types.h>

enum proc_file { PROC_SCHED, PROC_STAT, PROC_STATUS, PROC_IO, PROC_CHILDREN, NR_PROC_FILES };

#define PROC_TEXT_BYTES 4096 /* more than any of them has up to what is read of it */

struct proc_files {
	pid_t pid;
	int fd[NR_PROC_FILES]; /* owned; -1: not open */
};

void proc_files_init(struct proc_files *f, pid_t pid);
/* @nr_open: how many of all processes are open. */
void proc_files_done(struct proc_files *f, unsigned *nr_open);
/*
 * Reads a file and ends it with NUL; it stays open as long as *@nr_open is less than @most. The
 * length; -ESRCH: the process is gone; or another negative errno.
 */
ssize_t proc_files_read(struct proc_files *f, enum proc_file file, unsigned *nr_open, unsigned most,
			char *text, size_t size);
/* Calls @fn for each child of the first thread, whose list may be longer than any text. As above.
 */
int proc_files_children(struct proc_files *f, unsigned *nr_open, unsigned most,
			void (*fn)(void *context, pid_t child), void *context);

#endif
