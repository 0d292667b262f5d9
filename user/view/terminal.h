/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VIEW_TERMINAL_H
#define VIEW_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

/* The columns of what @f goes to: COLUMNS, else the terminal's, else what suits a file. */
size_t terminal_width(FILE *f);
/* Whether the locale can show more than ASCII. */
bool terminal_is_utf8(void);

#endif
