// SPDX-License-Identifier: BSD-2-Clause
/* What bpf/block.bpf.c counts: block I/O by cgroup, device and direction. */
#include "measure/tracker.h"

#include "bpfmon.skel.h"
#include "measure/map_walk.h"
#include "measure/programs.h"

#include <bpf/libbpf.h>
#include <errno.h>

#define AT_ONCE 64

/* A sum without the devices of one of the programs would be too small. */
static bool block_is_counted(const struct tracker *t)
{
	return (t->optional.there & OPTIONAL_OF_BLOCK) == OPTIONAL_OF_BLOCK;
}

void tracker_block_follow(struct tracker *t, uint64_t id)
{
	if (t->proc)
		return;
	t->skel->bss->block_target = 0; /* what completes meanwhile finds no wrong level */
	t->skel->bss->block_level = 0;
	t->skel->bss->block_target = id;
}

int tracker_each_block(const struct tracker *t,
		       void (*fn)(void *context, const struct block_key *key,
				  const struct block_count *count),
		       void *context)
{
	static struct block_count counts[AT_ONCE];
	static struct block_key keys[AT_ONCE];
	struct map_walk walk = { .map = t->proc ? NULL : t->skel->maps.blocks };
	int nr;

	if (!block_is_counted(t))
		return -ENODATA;
	while ((nr = map_walk_next(&walk, keys, counts, AT_ONCE)) > 0)
		for (int i = 0; i < nr; i++)
			fn(context, &keys[i], &counts[i]);
	return nr;
}

void tracker_block_remove(const struct tracker *t, const struct block_key *key)
{
	bpf_map__delete_elem(t->skel->maps.blocks, key, sizeof(*key), 0);
}

uint64_t tracker_blocks_lost(const struct tracker *t)
{
	if (!block_is_counted(t))
		return 0;
	return t->skel->bss->block_lost + program_misses(t->skel->progs.block__rq_complete) +
	       program_misses(t->skel->progs.block__bio_complete);
}
