/* SPDX-License-Identifier: BSD-2-Clause */
/* What stdout is, for what is drawn on it. */
#ifndef CMD_TERMINAL_H
#define CMD_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

/* COLUMNS, or the width of the terminal; where there is neither, as much as people read at once. */
size_t terminal_width(void);
/* Whether the locale can show more than ASCII. */
bool terminal_is_utf8(void);

#endif
