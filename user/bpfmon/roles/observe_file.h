/* SPDX-License-Identifier: BSD-2-Clause */
/* Hooks shared by the observers that write text: their own data begins with a struct output. */
#ifndef ROLES_OBSERVE_FILE_H
#define ROLES_OBSERVE_FILE_H

#include "bpfmon/roles/observer.h"
#include "bpfmon/roles/output.h"

static inline struct output *file_observer_output(struct observer *o)
{
	return o->own;
}

/* Opens the target, a path; waits for the reader of a pipe as long as the launcher is there. */
int file_observer_open(struct observer *o, const struct recorder_options *options);
/* The file takes its name. */
int file_observer_begin(struct observer *o);
int file_observer_flush(struct observer *o);
int file_observer_close(struct observer *o);

#endif
