// SPDX-License-Identifier: BSD-2-Clause
#include "measure/map_walk.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>

int map_walk_next(struct map_walk *walk, void *keys, void *values, size_t most)
{
	void *from = walk->has_begun ? &walk->place : NULL;
	__u32 nr = (__u32)most;
	int err;

	if (walk->has_ended)
		return 0;
	err = bpf_map_lookup_batch(bpf_map__fd(walk->map), from, &walk->place, keys, values, &nr,
				   NULL);
	walk->has_begun = true;
	walk->has_ended = err == -ENOENT; /* these are the last */
	return err && err != -ENOENT ? err : (int)nr;
}
