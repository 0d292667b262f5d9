/* SPDX-License-Identifier: BSD-2-Clause */
/* What has gone beyond a limit, for people. */
#ifndef TEXT_LIMIT_TEXT_H
#define TEXT_LIMIT_TEXT_H

#include "run/limit.h"

#include <stdio.h>

/* "rss<2GiB: 2.1 GiB after 12.3 s, most of it in python3 (123)", without control characters. */
void limit_text(FILE *f, const struct limit_hit *hit);
/* The same as a string, to be freed. NULL: there is no memory. */
char *limit_text_make(const struct limit_hit *hit);

#endif
