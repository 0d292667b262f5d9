/* SPDX-License-Identifier: BSD-2-Clause */
/* What came out of a comparison, in a sentence or two. */
#ifndef STUDY_VERDICT_H
#define STUDY_VERDICT_H

#include "study/compare.h"

#include <stdio.h>

/*
 * Returns the verdict on @group against the first, with a full stop and without a newline; to be
 * freed, NULL without memory. Nothing is called a change that may be noise; where the runs are too
 * few to tell, that is said. @facts: how many facts of the runs differ besides.
 */
char *verdict_text(const struct comparison *c, size_t group, size_t facts);

#endif
