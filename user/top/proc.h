/* SPDX-License-Identifier: BSD-2-Clause */
/* Reads live processes of this machine from /proc, as far as the user may. */
#ifndef TOP_PROC_H
#define TOP_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Copies the arguments of a live process, separated by blanks and cut to @size. Returns false if
 * there are none, or they cannot be read.
 */
bool proc_arguments(int32_t pid, char *out, size_t size);

/* Lines of text about the limits and open files of a process. */
struct proc_lines {
	char **lines; /* owned */
	size_t nr, room;
};

/*
 * Appends the limits that are set, and the open files. What cannot be read is reported in a line.
 * Returns 0 or -ENOMEM.
 */
int proc_lines_read(struct proc_lines *p, int32_t pid, uint64_t start_epoch_ns);
void proc_lines_done(struct proc_lines *p);

/* What the processes on the screen wait for: read for all of them at once, about once a second. */

#define WAITING_BYTES 512

struct waits;

struct waiting {
	struct waits *set; /* owned; NULL before the first request */
	uint64_t read_ns;  /* CLOCK_MONOTONIC */
	size_t nr_read;    /* processes of @set that were read */
	bool is_deferred;  /* set by the caller: use only what was read already, because a key waits
			     for the screen */
	bool is_incomplete; /* something was then not read yet */
	uint64_t reason_ns; /* CLOCK_MONOTONIC, of @reason */
	char reason[WAITING_BYTES];
};

/* Begins a new screen. Earlier results are valid for a second. */
void waiting_begin(struct waiting *w);
/* Announces a process, before waiting_text() is called for any. */
void waiting_add(struct waiting *w, int32_t pid, uint64_t start_epoch_ns);
/*
 * Stores the state of a process in *@state and what it waits for in @out, such as "waits for a lock
 * (flock) held by 17 cp, on /x", or "". Returns false if the process has ended, was not read yet,
 * or without memory.
 */
bool waiting_text(struct waiting *w, int32_t pid, uint64_t start_epoch_ns, char *state, char *out,
		  size_t size);
/*
 * Writes why none of the processes @pids proceeds, or "". Reads them and what they wait for about
 * every two seconds.
 */
void waiting_reason(struct waiting *w, const int32_t *pids, size_t nr, char *out, size_t size);
void waiting_done(struct waiting *w);

#endif
