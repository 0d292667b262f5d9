/* SPDX-License-Identifier: BSD-2-Clause */
/* The page for people: the live jobs of the node, those that use the most CPU now first. */
#ifndef EXPORTER_EXPORTER_PAGE_H
#define EXPORTER_EXPORTER_PAGE_H

#include "exporter/board.h"

#include <stdio.h>

#define PAGE_ROWS 500 /* further jobs are only counted */

/* Writes the page as HTML without scripts. The caller holds the lock. -ENOMEM; errors of @f are
 * the caller's. */
int jobs_page_write(FILE *f, const struct board *b, const char *host);

#endif
