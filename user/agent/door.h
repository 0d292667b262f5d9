/* SPDX-License-Identifier: BSD-2-Clause */
/* How descriptors of clients come to the agent, and how sockets that may have some are closed: both
 * by the porter. */
#ifndef AGENT_DOOR_H
#define AGENT_DOOR_H

#include <stdbool.h>

struct agent;
struct peer;

/* From now on the porter does so. 0 or a negative errno. */
int door_open(struct agent *a);
void door_close(struct agent *a);
/* Has the next packet of @p received, which brings descriptors; peer_take_packet() gets it. Until
 * then the connection is not looked at. */
void door_ask(struct peer *p);
/* After the loop has waited: asks for those that the porter had no room for. */
void door_attend(struct agent *a);

#endif
