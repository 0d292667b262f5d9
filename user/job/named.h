/* SPDX-License-Identifier: BSD-2-Clause */
/* The processes that the user has named: whether they are those that are followed. */
#ifndef JOB_NAMED_H
#define JOB_NAMED_H

#include "job/spec.h"
#include "track/tracker.h"

/*
 * After the first passes over all tasks. 0; -ESRCH with one sentence in @why: one was not found, or
 * its PID is another's by now. One of several that has ended meanwhile is not missed.
 */
int named_check(struct tracker *t, const struct job_spec *o, char *why, size_t size);

#endif
