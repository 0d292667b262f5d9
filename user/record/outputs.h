/* SPDX-License-Identifier: BSD-2-Clause */
/* The outputs of a run, all together: what goes wrong with one is reported, and is that one's. */
#ifndef RECORD_OUTPUTS_H
#define RECORD_OUTPUTS_H

#include "base/patience.h"
#include "record/recorder.h"

struct outputs {
	struct observer observers[MAX_OUTPUTS + 1]; /* the last may be the summary on stderr */
	size_t nr;
};

/*
 * Opens those of @o; a pipe without a reader is waited for as long as the launcher is there. Writes
 * wait for readers with @patience, which is not owned. A negative errno, which the launcher was
 * told of; -ECANCELED: it is gone. outputs_close() closes those that were opened in any case.
 */
int outputs_open(struct outputs *all, const struct recorder_options *o, struct patience *patience);
/* The run has begun: files take their names. */
void outputs_commit(struct outputs *all);
void outputs_flush(struct outputs *all);
void outputs_close(struct outputs *all);

#endif
