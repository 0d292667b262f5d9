/* SPDX-License-Identifier: BSD-2-Clause */
/* Limits of a run in requests, and what has gone beyond one in events and summaries. */
#ifndef RUN_LIMITS_H
#define RUN_LIMITS_H

#include "base/json.h"
#include "run/limit.h"

#include <jansson.h>

/* The list "limits"; nothing where there are none. */
void run_limits_write(struct jsonw *j, const struct limit *limits, size_t nr);
/* Reads it (NULL: there is none) into @limits (MAX_LIMITS). -EBADMSG, with @why. */
int run_limits_read(struct limit *limits, unsigned *nr, const json_t *list, char *why, size_t size);

/* The keys of @hit, within the object that is open; and of an object. False: they are not there. */
void limit_hit_write(struct jsonw *j, const struct limit_hit *hit);
bool limit_hit_read(struct limit_hit *hit, const json_t *object);

#endif
