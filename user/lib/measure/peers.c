// SPDX-License-Identifier: BSD-2-Clause
/* What bpf/sockets.bpf.c has of sockets beside counters of tasks: peers, and live sockets. */
#include "measure/tracker.h"

#include "bpfmon.skel.h"
#include "measure/map_walk.h"

#include <errno.h>

#define AT_ONCE 256

int tracker_each_peer(const struct tracker *t,
		      void (*fn)(void *context, const struct peer_key *key,
				 const struct peer_count *count),
		      void *context)
{
	struct map_walk walk = { .map = t->proc ? NULL : t->skel->maps.peers };
	struct peer_count counts[AT_ONCE];
	struct peer_key keys[AT_ONCE];
	int nr;

	if (t->proc || !t->skel->rodata->want_peers)
		return -ENODATA;
	while ((nr = map_walk_next(&walk, keys, counts, AT_ONCE)) > 0)
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
