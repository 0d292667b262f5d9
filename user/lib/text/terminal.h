/* SPDX-License-Identifier: BSD-2-Clause */
/* The width of a terminal, what its locale can show, and colour where it means something. */
#ifndef TEXT_TERMINAL_H
#define TEXT_TERMINAL_H

#include <stdbool.h>
#include <stdio.h>

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Sets the choice of the process, which is COLOUR_AUTO at first. */
void terminal_choose_colour(enum colour_choice choice);
/* Returns whether output to @f has colours: by choice, or because it is a terminal with colours and
 * NO_COLOR is not set. */
bool terminal_has_colour(FILE *f);
/* Begin and end the colour of a failure, a loss or a regression. */
void terminal_begin_alarm(FILE *f);
void terminal_end_alarm(FILE *f);
/* Begins the colour of a run that is going on, up to terminal_end_alarm(). */
void terminal_begin_running(FILE *f);
/*
 * Takes over @text, which is to be written to @f, and returns it with colours in place of its marks
 * of style, or without them if @f has no colours. NULL stays NULL.
 */
char *terminal_paint(char *text, FILE *f);

/* Returns the width for output to @f: COLUMNS, else that of the terminal, else a default. */
size_t terminal_width(FILE *f);
/* As terminal_width(), but 0 for a file, whose lines may have any length. */
size_t terminal_limit(FILE *f);
/* Returns whether the character set of the locale is UTF-8. */
bool terminal_is_utf8(void);

#endif
