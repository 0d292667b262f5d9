/* SPDX-License-Identifier: BSD-2-Clause */
/* The places for clients, so that silent ones of one user do not keep others out. */
#ifndef AGENT_PLACES_H
#define AGENT_PLACES_H

#include <stdbool.h>

struct agent;

/* To be called once, before the agent serves: it may have as many descriptors as the system allows.
 */
void places_allow_descriptors(void);
/*
 * Drops the client that has been silent for the longest of those of the user who has the most
 * connections; its place is free with the next turn of the loop. False: none is silent.
 */
bool places_make_one(struct agent *a);

#endif
