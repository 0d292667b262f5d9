/* SPDX-License-Identifier: BSD-2-Clause */
/* Where the time went, as one bar of letters and what they stand for; and as JSON. */
#ifndef TEXT_TIME_TEXT_H
#define TEXT_TIME_TEXT_H

#include "base/json.h"
#include "run/time_parts.h"

#include <stdio.h>

/* Two lines of the summary, of which the bar fits into @width columns (0: any); nothing where
 * @total does not say. */
void time_text(FILE *f, const struct sample *total, size_t width);
/* The object "time", with the seconds and the name of each part that is known. */
void time_json(struct jsonw *j, const struct sample *total);

#endif
