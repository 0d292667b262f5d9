/* SPDX-License-Identifier: BSD-2-Clause */
/* The peers of the sockets of a run (--net-peers), and how many sockets are live in each state. */
#ifndef MEASURE_NET_PEERS_H
#define MEASURE_NET_PEERS_H

#include "measure/tracker.h"
#include "run/run.h"
#include "run/sample.h"

/*
 * Adds the @most peers with the most bytes as instances of "peer", and the sum of the others; only
 * metrics of @usable. 0 or a negative errno: then there are none.
 */
int peers_put_instances(const struct tracker *t, const struct metric_set *usable, size_t most,
			struct sample *smp);
/*
 * Sets net_sockets, and for each state that any of the @nr live sockets has, an instance of
 * "socket_state"; @nr is by the kernel's number of the state.
 */
void socket_states_put(const uint64_t nr[NR_TCP_STATES], const struct metric_set *usable,
		       struct sample *smp);

#endif
