/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a user wants to be printed of a run: text with the letters of GNU time (%e), keys of the
 * summary line ({rss_peak_bytes}, {self.cpu_seconds}) and \t, \n, \\, \{.
 */
#ifndef RUN_TEMPLATE_H
#define RUN_TEMPLATE_H

#include "base/buffer.h"
#include "run/summary.h"

#include <jansson.h>

#define TEMPLATE_WHY_BYTES 256

/* Whether @text, the value of an option, is a template and not the name of a format. */
bool text_is_template(const char *text);
/* -EINVAL: a key in it is none; then @why says which, and which is spelt most like it. */
int template_check(const char *text, char why[TEMPLATE_WHY_BYTES]);
/*
 * Appends what it makes of the run, and a newline. What the run lacks is "?"; a letter that GNU
 * time has not is "?" and the letter, as there. @command: the words of the meta line, or NULL.
 * -ENOMEM.
 */
int template_write(struct buffer *t, const char *text, const struct summary *s,
		   const json_t *command);

/* What the letters of GNU time's --format stand for, of a whole run. */

/* Whether GNU time has this letter, % aside. */
bool time_letter_is_known(char letter);
/*
 * Appends its value as GNU time writes it: seconds with two decimals, KiB, blocks of 512 bytes.
 * What Linux never reports to GNU time is 0, as there. @command: the words of the meta line, or
 * NULL. False, and nothing is appended: the run lacks the value, or there is no such letter.
 */
bool time_letter_put(struct buffer *t, char letter, const struct summary *s, const json_t *command);

#endif
