/* SPDX-License-Identifier: BSD-2-Clause */
/* The width of a terminal, and what its locale can show. */
#ifndef VIEW_TERMINAL_H
#define VIEW_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* The width for output to @f: COLUMNS, else the terminal's, else a default for files. */
size_t terminal_width(FILE *f);
/* The same, but 0 for a file, whose lines may be of any length. */
size_t terminal_limit(FILE *f);
/* Whether the locale's character set is UTF-8. */
bool terminal_is_utf8(void);

#endif
