/* SPDX-License-Identifier: BSD-2-Clause */
/* Finds what compares runs, while the roles get ready and the launcher would only wait. */
#ifndef ROLES_DESCRIBE_H
#define ROLES_DESCRIBE_H

#include "bpfmon/roles/roles.h"

struct description {
	struct meta *meta; /* owned; NULL: there was no memory for it */
	pid_t reader;      /* of the revision; 0: there is none */
	int reader_fd;
};

/*
 * Begins to find the revision. That is in files which are not the kernel's, nor root's: a child
 * reads them with the rights of the user who called bpfmon, and may take its time.
 */
void description_begin(struct description *d, struct launch_options *o);
/* Finds everything else. */
void description_fill(struct description *d, const struct launch_options *o);
/*
 * Adds the revision if it is there by now or within a second, and sends all of it to the collector;
 * before the start.
 */
void description_send(struct description *d, const struct roles *roles, struct run *run);
/*
 * Ends what reads the revision, as there will be no run. The first role may be the first process of
 * a PID namespace, which cannot end before all others there have been waited for.
 */
void description_cancel(struct description *d);

#endif
