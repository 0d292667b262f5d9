/* SPDX-License-Identifier: BSD-2-Clause */
/* The observers of a run, all together: a failure of one is reported, and leaves the others alone.
 */
#ifndef ROLES_OBSERVERS_H
#define ROLES_OBSERVERS_H

#include "bpfmon/roles/recorder.h"

struct observers {
	struct observer *all; /* owned */
	size_t nr;
};

/*
 * Opens those that @options ask for: the outputs, then those with an option of their own. They wait
 * for readers with @patience, which is not owned. A negative errno, reported to the launcher except
 * for -ENOMEM; -ECANCELED: the launcher is gone. observers_close() is due in any case.
 */
int observers_open(struct observers *s, const struct recorder_options *options,
		   struct patience *patience);
/* Each of these calls that hook of every observer that has not failed. */
void observers_begin(struct observers *s);
void observers_line(struct observers *s, const struct line *l, const char *text, size_t length);
void observers_flush(struct observers *s);
void observers_end(struct observers *s, struct summary *total);
/* Closes those that were opened, the failed ones too. */
void observers_close(struct observers *s);

#endif
