/* SPDX-License-Identifier: BSD-2-Clause */
/* The table of programs in the summary. */
#ifndef TEXT_SUMMARY_TABLES_H
#define TEXT_SUMMARY_TABLES_H

#include "run/process.h"
#include "run/summary.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Ten, the heaviest first, and "others". In @width columns, unless that is 0: names are cut, then
 * columns are left out.
 */
void programs_text(FILE *f, const struct summary *s, size_t width);

/* Values of instances as a table for each dimension, and latencies as bars. */

/* Nothing where there are none. Columns for which @width (0: any) has no room are left out. */
void instances_text(FILE *f, const struct summary *s, size_t width);
/* A histogram for each device and direction. */
void latencies_text(FILE *f, const struct summary *s);

/* The processes with the most memory at one sample, as a table for a terminal. */

/* Writes @nr rows of the same sample, in the order given, under the title @when, of up to 12
 * columns, with its time; nothing if @nr is 0. */
void heaviest_text(FILE *f, const char *when, const struct process_sample *rows, size_t nr);

#endif
