/* SPDX-License-Identifier: BSD-2-Clause */
/* What the observers that write text have in common: hooks, for those whose own begins with this.
 */
#ifndef RECORD_OBSERVER_FILE_H
#define RECORD_OBSERVER_FILE_H

#include "record/observer.h"
#include "record/output.h"

static inline struct output *file_observer_output(struct observer *o)
{
	return o->own;
}

/* Opens the path that is the target; a pipe that nobody reads is waited for. */
int file_observer_open(struct observer *o, const struct recorder_options *options);
/* The file takes its name. */
int file_observer_begin(struct observer *o);
int file_observer_flush(struct observer *o);
int file_observer_close(struct observer *o);

#endif
