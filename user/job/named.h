/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the processes that the user has named are those that are followed. */
#ifndef JOB_NAMED_H
#define JOB_NAMED_H

#include "job/spec.h"
#include "track/tracker.h"

/*
 * To be called after seeding. 0; -ESRCH with one sentence in @why: one was not found, or its PID is
 * another process's by now. If others were found, one that has ended since is no error.
 */
int named_check(struct tracker *t, const struct job_spec *o, char *why, size_t size);

#endif
