/* SPDX-License-Identifier: BSD-2-Clause */
/* Values of instances as a table for each dimension, and latencies as bars. */
#ifndef TEXT_INSTANCES_TEXT_H
#define TEXT_INSTANCES_TEXT_H

#include "run/summary.h"

#include <stdio.h>

/* Nothing where there are none. Columns for which @width (0: any) has no room are left out. */
void instances_text(FILE *f, const struct summary *s, size_t width);
/* A histogram for each device and direction. */
void latencies_text(FILE *f, const struct summary *s);

#endif
