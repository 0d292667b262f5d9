/* SPDX-License-Identifier: BSD-2-Clause */
/* What the letters of GNU time's --format stand for, of a whole run. */
#ifndef RUN_TIME_LETTERS_H
#define RUN_TIME_LETTERS_H

#include "base/buffer.h"
#include "run/summary.h"

#include <jansson.h>

/* Whether GNU time has this letter, % aside. */
bool time_letter_is_known(char letter);
/*
 * Appends its value as GNU time writes it: seconds with two decimals, KiB, blocks of 512 bytes.
 * What Linux never reports to GNU time is 0, as there. @command: the words of the meta line, or
 * NULL. False, and nothing is appended: the run lacks the value, or there is no such letter.
 */
bool time_letter_put(struct buffer *t, char letter, const struct summary *s, const json_t *command);

#endif
