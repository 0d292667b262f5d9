/* SPDX-License-Identifier: BSD-2-Clause */
/* The width of a terminal, what its locale can show, and colour where it means something. */
#ifndef TEXT_TERMINAL_H
#define TEXT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* From here on; before it is COLOUR_AUTO. */
void terminal_choose_colour(enum colour_choice choice);
/* Whether @f is in colour: chosen, or a terminal that can and NO_COLOR is not set. */
bool terminal_has_colour(FILE *f);
/* What follows is about a failure, a loss, a regression; up to terminal_end_alarm(). */
void terminal_begin_alarm(FILE *f);
void terminal_end_alarm(FILE *f);
/* What follows is of a run that goes on; up to terminal_end_alarm(). */
void terminal_begin_running(FILE *f);
/*
 * Takes over @text, which is to be written to @f, and returns it with colours in place of its marks
 * of style, or without them if @f has no colours. NULL stays NULL.
 */
char *terminal_paint(char *text, FILE *f);

/* The width for output to @f: COLUMNS, else the terminal's, else a default for files. */
size_t terminal_width(FILE *f);
/* The same, but 0 for a file, whose lines may be of any length. */
size_t terminal_limit(FILE *f);
/* Whether the locale's character set is UTF-8. */
bool terminal_is_utf8(void);

#endif
