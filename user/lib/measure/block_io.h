/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block I/O of a job's cgroup, by device. What is above another device, as a loop device over a
 * file, is listed and not in the sum: the device below has the same bytes once more.
 */
#ifndef MEASURE_BLOCK_IO_H
#define MEASURE_BLOCK_IO_H

#include "base/cgroup.h"
#include "bpfmon/shared.h"
#include "run/run.h"
#include "run/summary.h"

#define MAX_BLOCK_DEVICES 1024 /* of a job; further ones are in the sum alone */

struct block_device {
	__u32 number;
	bool is_stacked;
	bool has[NR_BLOCK_DIRECTIONS];
	struct block_count count[NR_BLOCK_DIRECTIONS]; /* of the last reading */
	bool has_ended[NR_BLOCK_DIRECTIONS];
	struct block_count ended[NR_BLOCK_DIRECTIONS]; /* of cgroups that are gone: a part of it */
};

/* All zero: nothing is counted. */
struct block_io {
	struct block_device *devices; /* owned */
	size_t nr;
	uint64_t forgone; /* counts without room */
	char why[200];    /* why there is nothing; the run's reasons point to it */
};

/*
 * Whether the block I/O of @target (NULL: there is no cgroup) can be told from that of others: its
 * id in the hierarchy of the io controller, or 0; @why says why not.
 */
uint64_t block_target_id(const struct cgroup_target *target, char *why, size_t size);
/* Whether the device, as major and minor of block_key.device, is above another one; @sys: "/sys".
 */
bool block_device_is_stacked(const char *sys, __u32 number);
/* Before the counts are added of which the devices are to be. */
void block_io_begin(struct block_io *b);
void block_io_add(struct block_io *b, const struct block_key *key, const struct block_count *count);
/* Adds what no later reading has any more. */
void block_io_add_ended(struct block_io *b, const struct block_key *key,
			const struct block_count *count);
/* Whether cgroups of the hierarchy of @root, its root, have block I/O of their own. */
bool block_hierarchy_fits(const struct cgroup_target *root);
/* Puts what has been added. */
void block_io_put(const struct block_io *b, const struct metric_set *usable, struct sample *smp);
void block_io_put_latencies(const struct block_io *b, struct block_latencies *l);
void block_io_done(struct block_io *b);

#endif
