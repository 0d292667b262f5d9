/* SPDX-License-Identifier: BSD-2-Clause */
/* Asks the collector to follow what the options name. */
#ifndef ROLES_JOB_REQUEST_H
#define ROLES_JOB_REQUEST_H

#include "bpfmon/roles/roles.h"

/*
 * Sends the request, with its sockets, @command (0: what @o names is attached to) and the cgroup as
 * descriptors; the sockets are given away. A negative errno after one line to the user.
 */
int job_request_send(struct roles *roles, struct launch_options *o, pid_t command);

/* Finds what compares runs, while the roles get ready and the launcher would only wait. */

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
