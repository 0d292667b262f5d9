/* SPDX-License-Identifier: BSD-2-Clause */
/* How many births on this machine no hook has told of. */
#ifndef TRACK_BIRTHS_H
#define TRACK_BIRTHS_H

#include <stdint.h>

struct bpf_map;

/*
 * The kernel's count of forks less the births in @map: what this has grown by was missed by both
 * hooks. -EAGAIN: the machine forks too fast for the two to be read at one moment.
 */
int births_untold(const struct bpf_map *map, uint64_t *untold);

#endif
