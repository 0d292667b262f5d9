// SPDX-License-Identifier: BSD-2-Clause
#include "text/live_text.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PHASE_COLUMNS 32 /* longer names are cut */
#define PART_BYTES 160

/* Parts in display order. */
enum part {
	PART_ELAPSED,
	PART_STALLED,
	PART_CORES,
	PART_MEMORY,
	PART_PEAK,
	PART_IO,
	PART_PROCESSES,
	PART_PHASE,
	NR_PARTS
};

/* Parts in the order in which they are left out if the line is too narrow. */
static const enum part left_out[] = { PART_PROCESSES, PART_IO,     PART_PEAK,
				      PART_PHASE,     PART_MEMORY, PART_CORES };

char *format_elapsed(char *out, uint64_t ns)
{
	const uint64_t s = ns / NSEC_PER_SEC;

	if (s < 120)
		snprintf(out, FORMAT_BYTES, "%u s", (unsigned)s);
	else
		format_seconds(out, s * NSEC_PER_SEC);
	return out;
}

static void live_write_cores(char *out, const struct live_view *v)
{
	int n = snprintf(out, PART_BYTES, "%.1f", (double)v->cores / 1000);

	if (v->cores_available)
		snprintf(out + n, (size_t)(PART_BYTES - n), " of %.*f cores",
			 v->cores_available % 1000 ? 1 : 0, (double)v->cores_available / 1000);
	else
		snprintf(out + n, (size_t)(PART_BYTES - n), " cores");
}

static void live_write_phase(char *out, const char *phase, bool is_utf8)
{
	FILE *f = memory_fmemopen(out, PART_BYTES, "w");

	if (!f)
		return;
	format_beginning(f, phase, PHASE_COLUMNS);
	fclose(f);
	out[PART_BYTES - 1] = '\0';
	for (char *c = out; !is_utf8 && *c; c++)
		if (*c & 0x80)
			*c = '?';
	text_disarm(out); /* the buffer may end within a character */
}

static void live_write_parts(char parts[NR_PARTS][PART_BYTES], const struct live_view *v,
			     bool is_utf8)
{
	char bytes[FORMAT_BYTES];

	memset(parts, 0, (size_t)NR_PARTS * PART_BYTES);
	snprintf(parts[PART_ELAPSED], PART_BYTES, "bpfmon %s",
		 format_elapsed(bytes, v->elapsed_ns));
	if (v->is_stalled)
		snprintf(parts[PART_STALLED], PART_BYTES, "stalled");
	if (v->has_cores)
		live_write_cores(parts[PART_CORES], v);
	if (v->has_memory) {
		snprintf(parts[PART_MEMORY], PART_BYTES, "%s",
			 format_bytes(bytes, v->memory_bytes));
		snprintf(parts[PART_PEAK], PART_BYTES, "peak %s",
			 format_bytes(bytes, v->peak_bytes));
	}
	if (v->has_io)
		snprintf(parts[PART_IO], PART_BYTES, "I/O %s/s",
			 format_bytes(bytes, v->io_bytes_a_second));
	if (v->has_processes)
		snprintf(parts[PART_PROCESSES], PART_BYTES, "%s process%s",
			 format_count(bytes, v->processes), v->processes == 1 ? "" : "es");
	if (v->phase && *v->phase)
		live_write_phase(parts[PART_PHASE], v->phase, is_utf8);
}

static size_t live_columns(char parts[NR_PARTS][PART_BYTES])
{
	size_t sum = 0;

	for (int i = 0; i < NR_PARTS; i++)
		if (*parts[i])
			sum += format_columns(parts[i]) + (i ? 2 : 0);
	return sum;
}

void live_text(char *out, const struct live_view *v, size_t columns, bool is_utf8)
{
	char parts[NR_PARTS][PART_BYTES];
	size_t n = 0;

	live_write_parts(parts, v, is_utf8);
	for (size_t i = 0; i < sizeof(left_out) / sizeof(*left_out); i++)
		if (live_columns(parts) > columns)
			*parts[left_out[i]] = '\0';
	*out = '\0';
	for (int i = 0; i < NR_PARTS; i++)
		if (*parts[i] && n < LIVE_TEXT_BYTES)
			n += (size_t)snprintf(out + n, LIVE_TEXT_BYTES - n, "%s%s", i ? "  " : "",
					      parts[i]);
}
