/* SPDX-License-Identifier: BSD-2-Clause */
/* The names of users, without asking a name service, for which the agent would have to wait. */
#ifndef AGENT_USERS_H
#define AGENT_USERS_H

#include <stddef.h>
#include <stdint.h>

/* The name in /etc/passwd of the user @uid (-1: nobody's), or its number. */
void user_name_of(int64_t uid, char *name, size_t size);

#endif
