/* SPDX-License-Identifier: BSD-2-Clause */
/* Checks that the processes that the user has named are those that are followed. */
#ifndef MEASURE_NAMED_H
#define MEASURE_NAMED_H

#include "measure/job_spec.h"
#include "measure/tracker.h"

/*
 * To be called after seeding. 0; -ESRCH with one sentence in @why: one was not found, or its PID is
 * another process's by now. If others were found, one that has ended since is no error.
 */
int named_check(struct tracker *t, const struct job_spec *o, char *why, size_t size);

#endif
