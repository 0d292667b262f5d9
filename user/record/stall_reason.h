/* SPDX-License-Identifier: BSD-2-Clause */
/* Why a run is stalled: what its processes wait for, looked at when the event comes. */
#ifndef RECORD_STALL_REASON_H
#define RECORD_STALL_REASON_H

#include "base/json.h"
#include "wire/reader.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether it is the event of a run that has stalled; and the reason that it has, or "". */
bool line_is_stall(const struct line *l);
const char *stall_reason_of(const struct line *l);
/*
 * Writes into @j the line @text, which was read as @l, with "reason" as far as the rights of this
 * process show it. False: it is no event of a run that has stalled, or nothing can be said.
 */
bool stall_reason_write(struct jsonw *j, const struct line *l, const char *text, size_t length);

#endif
