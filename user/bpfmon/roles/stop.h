/* SPDX-License-Identifier: BSD-2-Clause */
/* The end of roles that may not want to end. */
#ifndef ROLES_STOP_H
#define ROLES_STOP_H

#include "bpfmon/roles/roles.h"

#define ROLES_GRACE_MS 1000          /* after the last request */
#define ROLES_UNNEEDED_GRACE_MS 3000 /* where there is no run: programs may be being loaded */

/* One line to the user: which role is waited for, and how to end that. */
void roles_say_awaited(const struct roles *roles);
/*
 * Lets go of both, and waits for their ends; what has not ended after @grace_ms is killed, the
 * recorder first, so that the collector may still send the summary, which is shown here. Each that
 * is killed is one warning. Takes no more than a few seconds longer, whatever the roles and the
 * kernel do.
 */
void roles_stop(struct roles *roles, int grace_ms);

#endif
