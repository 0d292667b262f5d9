/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef CMD_COMPARE_PAGE_H
#define CMD_COMPARE_PAGE_H

#include "compare/compare.h"
#include "cmd/compare.h"

/* Makes the page of --html. A negative errno, which was told to the user. */
int compare_page_write(const struct comparison *c, const json_t *diff,
		       const struct compare_options *o);

#endif
