/* SPDX-License-Identifier: BSD-2-Clause */
/* Starts the two roles to follow what runs already, and ends them. */
#ifndef ROLES_ATTACH_H
#define ROLES_ATTACH_H

#include "bpfmon/roles/launcher.h"

/*
 * Until the collector finds that it is over, or a signal asks for the end. A negative errno after
 * one line to the user: it could not begin.
 */
int attachment_run(struct launch_options *o);

#endif
