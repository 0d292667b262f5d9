/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The block I/O of a job's cgroup by device. Stacked devices (for example a loop device over a
 * file) are listed but left out of the sum, because the device below counts the same bytes.
 */
#ifndef MEASURE_BLOCK_IO_H
#define MEASURE_BLOCK_IO_H

#include "base/cgroup.h"
#include "base/json.h"
#include "bpfmon/shared.h"
#include "run/run.h"
#include "run/summary.h"

#include <jansson.h>

#define MAX_BLOCK_DEVICES 1024 /* per job; further devices count in the sum only */

struct block_device {
	__u32 number;
	bool is_stacked;
	bool has[NR_BLOCK_DIRECTIONS];
	struct block_count count[NR_BLOCK_DIRECTIONS]; /* of the last reading */
	bool has_ended[NR_BLOCK_DIRECTIONS];
	/* the part of @count from removed cgroups */
	struct block_count ended[NR_BLOCK_DIRECTIONS];
};

/* Zero-initialized: nothing is counted. */
struct block_io {
	struct block_device *devices; /* owned */
	size_t nr;
	uint64_t forgone; /* counts dropped: too many devices or no memory */
	char why[200];    /* why nothing is counted; run->unusable points here */
};

/*
 * For the next process: writes the counts of the last reading, and those of removed cgroups, as the
 * object "block_io".
 */
void block_io_keep(const struct block_io *b, struct jsonw *j);
/*
 * Adds what the books no longer have: with those of the last process the counts of removed cgroups,
 * with new ones all.
 */
void block_io_resume(struct block_io *b, const json_t *o, bool same_books);

/*
 * Returns the id of @target in the hierarchy of the io controller. Returns 0, with the reason in
 * @why, if the block I/O of @target cannot be separated from that of other cgroups. @target is NULL
 * if there is no cgroup.
 */
uint64_t block_target_id(const struct cgroup_target *target, char *why, size_t size);
/*
 * Returns true if the device lies on top of another one. @number is block_key.device; @sys is
 * "/sys".
 */
bool block_device_is_stacked(const char *sys, __u32 number);
/* Begins a reading: resets each device to the counts of removed cgroups. */
void block_io_begin(struct block_io *b);
void block_io_add(struct block_io *b, const struct block_key *key, const struct block_count *count);
/* Adds the count of a removed cgroup, which later readings no longer contain. */
void block_io_add_ended(struct block_io *b, const struct block_key *key,
			const struct block_count *count);
/*
 * Returns true if the cgroups below @root, the root of a hierarchy, account block I/O of their own.
 */
bool block_hierarchy_fits(const struct cgroup_target *root);
/* Puts the sum and the devices of this reading into @smp. */
void block_io_put(const struct block_io *b, const struct metric_set *usable, struct sample *smp);
void block_io_put_latencies(const struct block_io *b, struct block_latencies *l);
void block_io_done(struct block_io *b);

#endif
