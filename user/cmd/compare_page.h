/* SPDX-License-Identifier: BSD-2-Clause */
/* The page of `bpfmon compare --html`: the curves of several runs in the same charts. */
#ifndef CMD_COMPARE_PAGE_H
#define CMD_COMPARE_PAGE_H

#include "compare/compare.h"
#include "compare/step.h"
#include "cmd/compare.h"

/* Writes the page of --html. @steps: NULL without --by phase, program or span. A negative errno
 * after one line to the user. */
int compare_page_write(const struct comparison *c, const struct steps *steps, const json_t *diff,
		       const struct compare_options *o);

#endif
