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

#endif
