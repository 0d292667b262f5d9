/* SPDX-License-Identifier: BSD-2-Clause */
/* The role that needs privilege: follows, samples, writes the stream; opens no user's file. */
#ifndef COLLECT_COLLECTOR_H
#define COLLECT_COLLECTOR_H

#include "job/spec.h"

/* Runs the role to its end. 0, or a negative errno that the launcher was told of. */
int collector_run(const struct job_spec *o);

#endif
