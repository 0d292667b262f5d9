/* SPDX-License-Identifier: BSD-2-Clause */
/* What opening, writing and closing an output have in common. */
#ifndef RECORD_OUTPUT_PARTS_H
#define RECORD_OUTPUT_PARTS_H

#include "record/output.h"

/* Lets go of the file that is replaced. */
void output_close_old(struct output *o);
/* What was opened is given back; a file to which nothing came is removed. */
void output_drop(struct output *o);

#endif
