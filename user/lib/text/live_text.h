/* SPDX-License-Identifier: BSD-2-Clause */
/* The present state of a run as one line of a terminal. */
#ifndef TEXT_LIVE_TEXT_H
#define TEXT_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_TEXT_BYTES 1000

struct live_view {
	uint64_t elapsed_ns;
	bool has_cores, has_memory, has_io, has_processes; /* then: */
	uint64_t cores;                                    /* thousandths in use */
	uint64_t cores_available; /* thousandths that it may use; 0: not known */
	uint64_t memory_bytes, peak_bytes;
	uint64_t io_bytes_a_second; /* read from and written to storage */
	uint64_t processes;
	bool is_stalled;
	const char *phase; /* of unknown origin; NULL: none */
};

/* Writes how long a run has lasted into @out (FORMAT_BYTES), as "12 s", "1:23", "4:05:06", "2 d
 * 04:05:06"; returns @out. */
char *format_elapsed(char *out, uint64_t ns);
/*
 * Writes the line into @out (LIVE_TEXT_BYTES): what fits into @columns, what matters most first,
 * without control characters; where the terminal is not @is_utf8 all of it is ASCII.
 */
void live_text(char *out, const struct live_view *v, size_t columns, bool is_utf8);

#endif
