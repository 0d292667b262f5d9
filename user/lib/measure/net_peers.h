/* SPDX-License-Identifier: BSD-2-Clause */
/* Peers of the sockets of a run (--net-peers), and live sockets by state. */
#ifndef MEASURE_NET_PEERS_H
#define MEASURE_NET_PEERS_H

#include "measure/tracker.h"
#include "run/run.h"
#include "run/sample.h"

/*
 * Adds the @most peers with most bytes as instances of "peer", and the sum of the rest, for metrics
 * of @usable. Returns 0, or a negative errno and adds none.
 */
int peers_put_instances(const struct tracker *t, const struct metric_set *usable, size_t most,
			struct sample *smp);
/*
 * Sets net_sockets and an instance of "socket_state" for each state with sockets. @nr is indexed by
 * the kernel's state number.
 */
void socket_states_put(const uint64_t nr[NR_TCP_STATES], const struct metric_set *usable,
		       struct sample *smp);

#endif
