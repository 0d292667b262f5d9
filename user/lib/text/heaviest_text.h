/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes with the most memory at one sample, as a table for a terminal. */
#ifndef TEXT_HEAVIEST_TEXT_H
#define TEXT_HEAVIEST_TEXT_H

#include "run/process.h"

#include <stddef.h>
#include <stdio.h>

/* Writes @nr rows of the same sample, in the order given, under the title @when, of up to 12
 * columns, with its time; nothing if @nr is 0. */
void heaviest_text(FILE *f, const char *when, const struct process_sample *rows, size_t nr);

#endif
