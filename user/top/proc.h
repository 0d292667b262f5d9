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

/* What the processes on the screen wait for: read for all of them at once, and about once a second.
 */

#define WAITING_BYTES 512

struct waits;

struct waiting {
	struct waits *set; /* owned; NULL: nothing was asked yet */
	uint64_t read_ns;  /* CLOCK_MONOTONIC */
	size_t nr_read;    /* of the set, those that were read */
	bool is_put_off;   /* the caller's: what is read already has to do, a key waits for the
			      picture */
	bool is_owed;      /* then something was not read yet */
};

/* A new picture: those that it asks for are added; what was read before serves for a second. */
void waiting_begin(struct waiting *w);
/* The process that began then will be asked about, before waiting_text(). */
void waiting_add(struct waiting *w, int32_t pid, uint64_t start_epoch_ns);
/*
 * Its state, and into @out what it waits for ("waits for a lock (flock) on /x, held by 17 cp"), or
 * "". False: it is not there, is not read yet, or there is no memory.
 */
bool waiting_text(struct waiting *w, int32_t pid, uint64_t start_epoch_ns, char *state, char *out,
		  size_t size);
void waiting_done(struct waiting *w);

#endif
