/* SPDX-License-Identifier: BSD-2-Clause */
/* Notes what compares runs, while the roles get ready and the launcher would only wait. */
#ifndef LAUNCH_DESCRIBE_H
#define LAUNCH_DESCRIBE_H

#include "launch/launcher.h"

struct description {
	struct meta *meta; /* the collector sees what is noted in it; NULL: nothing is noted */
	pid_t reader;      /* of the revision; 0: there is none */
	int reader_fd;
};

/* Makes room that the collector, not forked yet, will share. */
void describe_begin(struct description *d, struct launch_options *o);
/*
 * Notes everything but the revision. That is in files which are not the kernel's, nor root's: a
 * child reads them with the rights of the user who called us, and may take its time.
 */
void describe(struct description *d, const struct launch_options *o);
/* Notes the revision if it is there by now or within a second; before the collector is told to
 * begin. */
void describe_end(struct description *d);
/*
 * Ends what reads the revision, as there will be no run. The first role may be the first process of
 * a PID namespace, which cannot end before all others there have been waited for.
 */
void describe_cancel(struct description *d);

#endif
