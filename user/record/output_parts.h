/* SPDX-License-Identifier: BSD-2-Clause */
/* What opening, writing and closing an output have in common. */
#ifndef RECORD_OUTPUT_PARTS_H
#define RECORD_OUTPUT_PARTS_H

#include "record/output.h"

/* Frees and closes everything; a file that was never committed is removed. */
void output_drop(struct output *o);

#endif
