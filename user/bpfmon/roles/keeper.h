/* SPDX-License-Identifier: BSD-2-Clause */
/* A keeper: a child that only waits for the end of the others, to remove what they leave. */
#ifndef ROLES_KEEPER_H
#define ROLES_KEEPER_H

/* In the child: no signal that can be ignored ends it, nor does the end of its session. */
void keeper_detach(void);
/* Closes all descriptors but these two (-1: none) and those below @from. */
void keeper_close_others(int from, int one, int other);

#endif
