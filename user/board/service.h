/* SPDX-License-Identifier: BSD-2-Clause */
/* What a service that follows the agent does once, at its start: its user, rights and calls. */
#ifndef BOARD_SERVICE_H
#define BOARD_SERVICE_H

#include "base/user.h"

/*
 * Finds the user @name to become into @u; @name is empty if the program was not told one, and @u
 * then has no name. Root is refused: without root's rights, which @program drops, it would see no
 * jobs when it opens the stream again. Returns 0 or a negative errno after a message.
 */
int service_choose_user(const char *program, const char *name, struct user *u);
/*
 * Becomes the user, if it has a name, and drops all capabilities. Called once files that only root
 * reads are open. Returns 0 or a negative errno after a message.
 */
int service_drop_rights(const struct user *u);
/* Restricts the program to the system calls of @role; warns if that fails. */
void service_restrict_calls(unsigned role);

#endif
