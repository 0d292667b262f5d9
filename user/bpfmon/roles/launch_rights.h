/* SPDX-License-Identifier: BSD-2-Clause */
/* What the launcher gives up before the command runs. docs/SECURITY.md has the rights of all. */
#ifndef ROLES_LAUNCH_RIGHTS_H
#define ROLES_LAUNCH_RIGHTS_H

/*
 * Keeps the right to signal what the command becomes, and roles that hang, which have other users;
 * of the system calls, those to wait and to signal.
 */
void rights_of_launcher(void);

#endif
