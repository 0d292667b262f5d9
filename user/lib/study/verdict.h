/* SPDX-License-Identifier: BSD-2-Clause */
/* Describes the result of a comparison in a sentence or two. */
#ifndef STUDY_VERDICT_H
#define STUDY_VERDICT_H

#include "study/compare.h"

#include <stdio.h>

/*
 * Returns the verdict on @group against the first, with a full stop and without a newline, to be
 * freed; NULL without memory. It mentions no change that may be noise, and says if there are too
 * few runs to tell. @facts is the number of other differences between the runs.
 */
char *verdict_text(const struct comparison *c, size_t group, size_t facts);

#endif
