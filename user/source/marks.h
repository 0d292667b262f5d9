/* SPDX-License-Identifier: BSD-2-Clause */
/* The marks of a run that was recorded. */
#ifndef SOURCE_MARKS_H
#define SOURCE_MARKS_H

#include "model/phase.h"
#include "wire/reader.h"

/* Adds a line of the kind event to @p, if it is a mark. One that does not fit is counted there. */
void marks_add(struct phases *p, const struct line *l);

#endif
