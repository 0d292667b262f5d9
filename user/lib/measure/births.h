/* SPDX-License-Identifier: BSD-2-Clause */
/* How many births on this machine no hook has seen. */
#ifndef MEASURE_BIRTHS_H
#define MEASURE_BIRTHS_H

#include <stdint.h>

struct bpf_map;

/*
 * Sets @unreported to the kernel's count of forks less the births in @map: the growth of this number is
 * the births that both hooks missed. -EAGAIN: too many forks to read both counts at one moment.
 */
int births_unreported(const struct bpf_map *map, uint64_t *unreported);

#endif
