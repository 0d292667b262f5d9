/* SPDX-License-Identifier: BSD-2-Clause */
/* What /proc has of a live process of this machine, as far as the user may read it. */
#ifndef TOP_PROC_H
#define TOP_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The arguments of a live process, with blanks between them, cut to @size. False: it has none, or
 * they cannot be read. */
bool proc_arguments(int32_t pid, char *out, size_t size);

/* Lines of text about a process: its limits, its open files. */
struct proc_lines {
	char **lines; /* owned */
	size_t nr, room;
};

/* Appends the limits that are set, and the files that are open. -ENOMEM; what cannot be read is
 * said in a line. */
int proc_lines_read(struct proc_lines *p, int32_t pid, uint64_t start_epoch_ns);
void proc_lines_done(struct proc_lines *p);

#endif
