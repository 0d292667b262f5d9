/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef VIEW_TERMINAL_H
#define VIEW_TERMINAL_H

#include <stdio.h>

/* The columns of what @f goes to: COLUMNS, else the terminal's, else what suits a file. */
size_t terminal_width(FILE *f);

#endif
