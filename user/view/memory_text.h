/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary's lines on memory. */
#ifndef VIEW_MEMORY_TEXT_H
#define VIEW_MEMORY_TEXT_H

#include "model/summary.h"

#include <stdio.h>

void memory_text(FILE *f, const struct summary *s);

#endif
