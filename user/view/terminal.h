/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VIEW_TERMINAL_H
#define VIEW_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* The columns of what @f goes to: COLUMNS, else the terminal's, else what suits a file. */
size_t terminal_width(FILE *f);
/* The same, but 0 for a file, whose lines may be of any length. */
size_t terminal_limit(FILE *f);
/* Whether the locale can show more than ASCII. */
bool terminal_is_utf8(void);

#endif
