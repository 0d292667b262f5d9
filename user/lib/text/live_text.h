/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the current state of a run as one line for a terminal. */
#ifndef TEXT_LIVE_TEXT_H
#define TEXT_LIVE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIVE_TEXT_BYTES 1000

struct live_view {
	uint64_t elapsed_ns;
	bool has_cores, has_memory, has_io, has_processes; /* the values below are set */
	uint64_t cores;                                    /* in use, in thousandths */
	uint64_t cores_available; /* that the run may use, in thousandths; 0 if unknown */
	uint64_t memory_bytes, peak_bytes;
	uint64_t io_bytes_a_second; /* storage reads and writes */
	uint64_t processes;
	bool is_stalled;
	const char *phase; /* untrusted; may be NULL */
};

/*
 * Formats the time that a run has lasted into @out (FORMAT_BYTES) as format_seconds() does, without
 * parts of a second. Returns @out.
 */
char *format_elapsed(char *out, uint64_t ns);
/*
 * Writes the line into @out (LIVE_TEXT_BYTES), without control characters and in ASCII unless
 * @is_utf8. If @columns are too few, the least important parts are left out.
 */
void live_text(char *out, const struct live_view *v, size_t columns, bool is_utf8);

#endif
