/* SPDX-License-Identifier: BSD-2-Clause */
/* Sends the collector the request for a job, and the description of the run. */
#ifndef ROLES_JOB_REQUEST_H
#define ROLES_JOB_REQUEST_H

#include "bpfmon/roles/roles.h"

/*
 * Sends the request, with the sockets, @command (0: attach to what @o names) and the cgroup as
 * descriptors. The sockets are closed here. Returns 0, or a negative errno after a message to the
 * user.
 */
int job_request_send(struct roles *roles, struct launch_options *o, pid_t command);

/*
 * The description of a run, used to compare runs. It is read while the roles start and the launcher
 * would only wait.
 */

struct description {
	struct meta *meta; /* owned; NULL if out of memory */
	pid_t reader;      /* child that reads the git revision; 0: none */
	int reader_fd;
};

/*
 * Begins to read the git revision. Its files are neither the kernel's nor root's: a child reads
 * them with the rights of the user who called bpfmon, and may take its time.
 */
void description_begin(struct description *d, struct launch_options *o);
/* Reads everything but the revision. */
void description_fill(struct description *d, const struct launch_options *o);
/*
 * Adds the revision if it arrives within a second and sends the description to the collector. Call
 * it before the start message.
 */
void description_send(struct description *d, const struct roles *roles, struct run *run);
/*
 * Ends the child that reads the revision, as there will be no run. The first role may be the first
 * process of a PID namespace, which cannot end before all others there have been reaped.
 */
void description_cancel(struct description *d);

#endif
