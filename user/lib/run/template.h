/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A user's template for printing a run: text with the letters of GNU time (%e), keys of the summary
 * line ({rss_peak_bytes}, {self.cpu_seconds}) and \t, \n, \\, \{.
 */
#ifndef RUN_TEMPLATE_H
#define RUN_TEMPLATE_H

#include "base/buffer.h"
#include "run/summary.h"

#include <jansson.h>

#define TEMPLATE_WHY_BYTES 256

/* Returns true if @text, the value of an option, is a template rather than the name of a format. */
bool text_is_template(const char *text);
/* Returns 0, or -EINVAL if a key is unknown: @why names it and the most similar one. */
int template_check(const char *text, char why[TEMPLATE_WHY_BYTES]);
/*
 * Appends the expanded template and a newline. A value that the run lacks becomes "?"; a letter
 * that GNU time does not know becomes "?" and the letter, as there. @command: the words of the meta
 * line, or NULL. Returns 0 or -ENOMEM.
 */
int template_write(struct buffer *t, const char *text, const struct summary *s,
		   const json_t *command);

/* Values of the letters of GNU time's --format for a whole run. */

/* Returns true if GNU time knows %@letter. */
bool time_letter_is_known(char letter);
/*
 * Appends the value as GNU time writes it: seconds with two decimals, KiB, blocks of 512 bytes.
 * Values that Linux never reports to GNU time are 0, as there. @command: the words of the meta
 * line, or NULL. Returns false, without appending, if the run lacks the value or there is no such
 * letter.
 */
bool time_letter_put(struct buffer *t, char letter, const struct summary *s, const json_t *command);

#endif
