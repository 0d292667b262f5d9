/* SPDX-License-Identifier: BSD-2-Clause */
/* Tables of the summary: programs, instances, latencies; and processes of a sample. */
#ifndef TEXT_SUMMARY_TABLES_H
#define TEXT_SUMMARY_TABLES_H

#include "run/process.h"
#include "run/summary.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Writes the ten heaviest programs, the heaviest first, and "others". In @width columns, unless
 * that is 0: columns are left out, and names are cut.
 */
void programs_text(FILE *f, const struct summary *s, size_t width);

/* Writes a table of instances for each dimension. Columns that do not fit into @width (0: any) are
 * left out. */
void instances_text(FILE *f, const struct summary *s, size_t width);
/* Writes a histogram of latencies for each device and direction. */
void latencies_text(FILE *f, const struct summary *s);

/* Writes a table of @nr processes of one sample, in their order, with the title @when, of up to 12
 * columns, and the time of the sample. Nothing if @nr is 0. */
void heaviest_text(FILE *f, const char *when, const struct process_sample *rows, size_t nr);

#endif
