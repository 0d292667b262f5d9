/* SPDX-License-Identifier: BSD-2-Clause */
/* The phases of a run as a table for a terminal, or of Markdown. */
#ifndef TEXT_PHASES_TEXT_H
#define TEXT_PHASES_TEXT_H

#include "run/phase.h"

/*
 * A header and a row for each name, or @is_each for each phase, to be freed; NULL without memory.
 * No line is longer than @width columns (32 at least): what does not fit is left out from the
 * right, and of a name its beginning. Of width 0: all of it, as a table of Markdown.
 */
char *phases_text(const struct phases *p, bool is_each, size_t width);

#endif
