/* SPDX-License-Identifier: BSD-2-Clause */
/* The width, character set and colours of a terminal. */
#ifndef TEXT_TERMINAL_H
#define TEXT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

enum colour_choice { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

/* Sets the choice for this process. The default is COLOUR_AUTO. */
void terminal_choose_colour(enum colour_choice choice);
/*
 * Returns true if output to @f has colours: by choice, or because it is a terminal with colours and
 * NO_COLOR is unset.
 */
bool terminal_has_colour(FILE *f);
/* Begin and end the colour of a failure, a loss or a regression. */
void terminal_begin_alarm(FILE *f);
void terminal_end_alarm(FILE *f);
/* Begins the colour of an unfinished run, up to terminal_end_alarm(). */
void terminal_begin_running(FILE *f);
/*
 * Returns @text with its style marks replaced by colours, or removed if @f has none. Takes
 * ownership of @text, which may be NULL.
 */
char *terminal_paint(char *text, FILE *f);

/* Returns the width of output to @f: COLUMNS, else the width of the terminal, else a default. */
size_t terminal_width(FILE *f);
/* Like terminal_width(), but returns 0 (any length) for a file. */
size_t terminal_limit(FILE *f);
/* Like terminal_width(), but returns TEXT_UNCUT for a file, for tables that cut cells. */
size_t table_width(FILE *f);
/* Returns true if the locale uses UTF-8. */
bool terminal_is_utf8(void);

#endif
