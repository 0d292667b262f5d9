/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats tables of the summary: programs, instances, latencies, and the processes of a sample. */
#ifndef TEXT_SUMMARY_TABLES_H
#define TEXT_SUMMARY_TABLES_H

#include "run/process.h"
#include "run/summary.h"

#include <stddef.h>
#include <stdio.h>

/*
 * Writes the ten heaviest programs and the sum of the others. If @width is not 0, leaves out
 * columns and cuts names to fit.
 */
void programs_text(FILE *f, const struct summary *s, size_t width);
/* Names the program with the most CPU time, after a comma; writes nothing for a single program. */
void main_program_text(FILE *f, const struct summary *s);

/*
 * Writes a table of instances per dimension. Columns that do not fit into @width (0 for any) are
 * left out.
 */
void instances_text(FILE *f, const struct summary *s, size_t width);
/* Writes a histogram of latencies per device and direction. */
void latencies_text(FILE *f, const struct summary *s);

/*
 * Writes a table of the @nr processes of one sample, in their order. Its heading is @when (up to 12
 * columns) and the time of the sample. Writes nothing if @nr is 0.
 */
void heaviest_text(FILE *f, const char *when, const struct process_sample *rows, size_t nr);

#endif
