// SPDX-License-Identifier: BSD-2-Clause
/* Results of bpf/sockets.bpf.c that are not counters of tasks: peers and live sockets. */
#include "measure/net_peers.h"

#include "base/memory.h"
#include "bpfmon.skel.h"
#include "measure/iterator.h"
#include "measure/tracker.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PEERS_AT_ONCE 256

/* Calls @fn for each peer. Returns -ENODATA if peers are not counted, or another negative errno. */
static int tracker_each_peer(const struct tracker *t,
			     void (*fn)(void *context, const struct peer_key *key,
					const struct peer_count *count),
			     void *context)
{
	struct map_walk walk = { .map = t->proc ? NULL : t->skel->maps.peers };
	struct peer_count counts[PEERS_AT_ONCE];
	struct peer_key keys[PEERS_AT_ONCE];
	int nr;

	if (t->proc || !t->skel->rodata->want_peers)
		return -ENODATA;
	while ((nr = map_walk_next(&walk, keys, counts, PEERS_AT_ONCE)) > 0)
		for (int i = 0; i < nr; i++)
			fn(context, &keys[i], &counts[i]);
	return nr;
}

uint64_t tracker_peers_lost(const struct tracker *t)
{
	return t->proc ? 0 : t->skel->bss->peers_lost;
}

int tracker_each_socket(struct tracker *t, void (*fn)(void *context, const void *row),
			void *context)
{
	struct optionals *o = &t->optional;

	if (!(o->there & OPTIONAL_BIT(OPTIONAL_LIVE_SOCKETS)))
		return -ENODATA;
	o->sockets.at->number++;
	return walker_run(&o->sockets, fn, context);
}

uint64_t tracker_sockets_lost(const struct tracker *t)
{
	return t->proc ? 0 : t->skel->bss->sockets_lost;
}

struct peer_entry {
	struct peer_key key;
	struct peer_count count;
};

struct peer_list {
	struct peer_entry *all; /* owned */
	size_t nr, room;
	bool lacks_memory;
};

/*
 * Formats a peer as --net-peers shows it: "tcp:192.0.2.1:443"; without port if the peer connected
 * to the run.
 */
static void peer_name(const struct peer_key *key, char *name, size_t size)
{
	const bool is_v4 = !key->address[0] && !key->address[1] && key->address[2] == htonl(0xffff);
	const char *protocol = key->protocol == PEER_TCP ? "tcp" : "udp";
	char address[INET6_ADDRSTRLEN] = "";

	if (key->protocol == PEER_UNCONNECTED) {
		snprintf(name, size, "udp:unconnected");
		return;
	}
	inet_ntop(is_v4 ? AF_INET : AF_INET6, &key->address[is_v4 ? 3 : 0], address,
		  sizeof(address));
	if (!key->port)
		snprintf(name, size, is_v4 ? "%s:%s" : "%s:[%s]", protocol, address);
	else
		snprintf(name, size, is_v4 ? "%s:%s:%u" : "%s:[%s]:%u", protocol, address,
			 key->port);
}

static void peer_keep(void *context, const struct peer_key *key, const struct peer_count *count)
{
	struct peer_list *l = context;
	size_t room = l->room ? l->room * 2 : 64;
	struct peer_entry *all;

	if (l->nr == l->room) {
		all = memory_reallocarray(l->all, room, sizeof(*all));
		if (!all) {
			l->lacks_memory = true;
			return;
		}
		l->all = all;
		l->room = room;
	}
	l->all[l->nr++] = (struct peer_entry){ *key, *count };
}

static int peer_order(const void *a, const void *b)
{
	const struct peer_entry *p = a, *q = b;
	const uint64_t of_p = p->count.rx + p->count.tx, of_q = q->count.rx + q->count.tx;

	return of_p != of_q ? (of_p < of_q) - (of_p > of_q)
			    : memcmp(&p->key, &q->key, sizeof(p->key));
}

static void peer_put(const struct peer_count *c, const char *name, const struct metric_set *usable,
		     struct sample *smp)
{
	const struct {
		enum metric_id id;
		uint64_t value;
	} values[] = { { M_net_rx, c->rx },
		       { M_net_tx, c->tx },
		       { M_net_rx_messages, c->rx_messages },
		       { M_net_tx_messages, c->tx_messages } };
	struct instance *i = sample_add_instance(smp, "peer", name);

	for (size_t at = 0; i && at < sizeof(values) / sizeof(values[0]); at++) {
		if (!metric_has(usable, values[at].id))
			continue;
		i->value[values[at].id] = values[at].value;
		metric_put(&i->have, values[at].id);
	}
}

static void peer_add(struct peer_count *sum, const struct peer_count *c)
{
	sum->rx += c->rx;
	sum->tx += c->tx;
	sum->rx_messages += c->rx_messages;
	sum->tx_messages += c->tx_messages;
}

static void peer_list_put(struct peer_list *l, const struct metric_set *usable, size_t most,
			  struct sample *smp)
{
	struct peer_count others = { 0 };
	char name[INSTANCE_BYTES];

	if (l->nr)
		qsort(l->all, l->nr, sizeof(*l->all), peer_order);
	for (size_t i = 0; i < l->nr; i++) {
		if (i >= most) {
			peer_add(&others, &l->all[i].count);
			continue;
		}
		peer_name(&l->all[i].key, name, sizeof(name));
		peer_put(&l->all[i].count, name, usable, smp);
	}
	if (l->nr > most)
		peer_put(&others, OTHER_INSTANCES, usable, smp);
}

int peers_put_instances(const struct tracker *t, const struct metric_set *usable, size_t most,
			struct sample *smp)
{
	struct peer_list l = { 0 };
	int err = tracker_each_peer(t, peer_keep, &l);

	if (!err && l.lacks_memory)
		err = -ENOMEM;
	if (!err)
		peer_list_put(&l, usable, most, smp);
	free(l.all);
	return err;
}

/* The kernel's numbers. Closed sockets are not live. */
static const char *const state_names[NR_TCP_STATES] = {
	[1] = "established", [2] = "syn_sent",  [3] = "syn_recv",      [4] = "fin_wait1",
	[5] = "fin_wait2",   [6] = "time_wait", [8] = "close_wait",    [9] = "last_ack",
	[10] = "listen",     [11] = "closing",  [12] = "new_syn_recv",
};

void socket_states_put(const uint64_t nr[NR_TCP_STATES], const struct metric_set *usable,
		       struct sample *smp)
{
	struct instance *i;
	uint64_t all = 0;

	if (!metric_has(usable, M_net_sockets))
		return;
	for (int state = 0; state < NR_TCP_STATES; state++) {
		if (!nr[state] || !state_names[state])
			continue;
		all += nr[state];
		i = sample_add_instance(smp, "socket_state", state_names[state]);
		if (!i)
			continue;
		i->value[M_net_sockets] = nr[state];
		metric_put(&i->have, M_net_sockets);
	}
	sample_set(smp, M_net_sockets, all);
}
