/* SPDX-License-Identifier: BSD-2-Clause */
/* What opening, writing and closing an output have in common. */
#ifndef ROLES_OUTPUT_PARTS_H
#define ROLES_OUTPUT_PARTS_H

#include "bpfmon/roles/output.h"

/* Frees and closes everything; a file that was never committed is removed. */
void output_drop(struct output *o);

#endif
