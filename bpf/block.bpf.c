// SPDX-License-Identifier: (GPL-2.0-only OR BSD-2-Clause)
/*
 * Block I/O at the completion of requests: bytes, operations and latency by cgroup, device and
 * direction; for devices without requests (zram, pmem, brd) at the completion of bios. The owner is
 * the cgroup of the data: `current` is an arbitrary task at that moment. So writeback is included
 * where the kernel knows whose pages it writes.
 */
#include "books.bpf.h"

#define MAX_LEVELS 32
#define OP_MASK 0xff /* part of cmd_flags that holds the operation */

/* The kernel's enum req_op, which has other names before 6.0. */
enum {
	OP_WRITE_BIT = 1, /* data goes to the device */
	OP_FLUSH = 2,
	OP_DISCARD = 3,
	OP_SECURE_ERASE = 5,
	/* from here on commands of drivers, which are no I/O of a cgroup */
	OP_FIRST_OF_DRIVERS = 32,
};

/* BLK_STS_AGAIN: the bio was not executed, as it would have had to wait */
#define STATUS_AGAIN 12

struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 1); /* set before loading */
	__uint(map_flags, BPF_F_NO_PREALLOC);
	__type(key, struct block_key);
	__type(value, struct block_count);
} blocks SEC(".maps");

static const struct block_count no_count;
/* set in rq_flags if the kernel takes the time of the request */
const volatile __u32 block_timed_flag;

__u64 block_target; /* id of the tracked cgroup in the hierarchy of the io controller */
__u32 block_level;  /* depth of that cgroup, 1 for the root; 0: not known yet */
__u64 block_lost;   /* requests that did not fit into the map */

static __always_inline void block_level_find(struct cgroup *cg, u32 level)
{
	for (u32 i = 0; i < MAX_LEVELS && i < level; i++)
		if (cgroup_ancestor_id((u64)cg, i) == block_target)
			block_level = i + 1;
}

/* Returns true if I/O of @cg counts. With whole_node sets key->cgroup. */
static __always_inline bool cgroup_is_counted(struct cgroup *cg, struct block_key *key)
{
	u32 level = BPF_CORE_READ(cg, level) + 1;

	if (whole_node) {
		key->cgroup = BPF_CORE_READ(cg, kn, id);
		return true;
	}
	if (!block_target)
		return false;
	if (!block_level)
		block_level_find(cg, level);
	return block_level && level >= block_level &&
	       cgroup_ancestor_id((u64)cg, block_level - 1) == block_target;
}

/* A write without data is the rest of a flush, or follows its data. */
static __always_inline u32 direction_of(u32 op, bool has_data)
{
	if (op == OP_DISCARD || op == OP_SECURE_ERASE)
		return BLOCK_DISCARD;
	if (op == OP_FLUSH || (op & OP_WRITE_BIT && !has_data))
		return BLOCK_FLUSH;
	return op & OP_WRITE_BIT ? BLOCK_WRITE : BLOCK_READ;
}

static __always_inline struct block_count *block_count_get(const struct block_key *key,
							   struct gendisk *disk)
{
	struct block_count *c = bpf_map_lookup_elem(&blocks, key);

	if (c)
		return c;
	bpf_map_update_elem(&blocks, key, &no_count, BPF_NOEXIST);
	c = bpf_map_lookup_elem(&blocks, key);
	if (c)
		BPF_CORE_READ_INTO(&c->disk, disk, disk_name);
	else
		add(block_lost, 1);
	return c;
}

/*
 * Returns the counters for @disk, @direction and the cgroup of @bio; NULL if the cgroup does not
 * count or there is no room.
 */
static __always_inline struct block_count *block_count_find(struct bio *bio, struct gendisk *disk,
							    u32 direction)
{
	struct block_key key = { .direction = direction };

	if (!cgroup_is_counted(BPF_CORE_READ(bio, bi_blkg, blkcg, css.cgroup), &key))
		return NULL;
	key.device = (u32)BPF_CORE_READ(disk, major) << BLOCK_MINOR_BITS |
		     (u32)BPF_CORE_READ(disk, first_minor);
	return block_count_get(&key, disk);
}

static __always_inline u32 latency_bucket(u64 ns)
{
	u32 bucket = 0;

	for (u32 step = 32; step; step >>= 1) {
		if (ns >> step) {
			ns >>= step;
			bucket += step;
		}
	}
	return bucket < BLOCK_BUCKETS ? bucket : BLOCK_BUCKETS - 1;
}

/*
 * Counts the time from the creation of the request until now, as /sys/block/NAME/stat does: the
 * kernel keeps that unless queue/iostats is 0. The time of dispatch to the device
 * (io_start_time_ns) exists only where a throttle or scheduler needs it.
 */
static __always_inline void latency_count(struct block_count *c, struct request *rq)
{
	u64 start_ns = BPF_CORE_READ(rq, start_time_ns), now_ns = mono_now();
	u64 took_ns = now_ns > start_ns ? now_ns - start_ns : 0;

	/* without the flag the time may be that of an earlier request in this place */
	if (!(BPF_CORE_READ(rq, rq_flags) & block_timed_flag) || !start_ns)
		return;
	add(c->timed, 1);
	add(c->latency_ns, took_ns);
	add(c->buckets[latency_bucket(took_ns)], 1);
}

/* A request may complete in parts: they are one operation, counted with the last part. */
SEC("?tp_btf/block_rq_complete")
int BPF_PROG(block__rq_complete, struct request *rq, int error, u32 bytes)
{
	struct bio *bio = BPF_CORE_READ(rq, bio);
	u32 op = BPF_CORE_READ(rq, cmd_flags) & OP_MASK;
	struct block_count *c;

	if (!bio || op >= OP_FIRST_OF_DRIVERS)
		return 0;
	c = block_count_find(bio, BPF_CORE_READ(rq, q, disk), direction_of(op, bytes));
	if (!c)
		return 0;
	add(c->bytes, bytes);
	if (bytes < BPF_CORE_READ(rq, __data_len))
		return 0;
	add(c->ops, 1);
	latency_count(c, rq);
	return 0;
}

/* Exists since 5.15, if the kernel supports stacked devices (dm, md, bcache). */
struct gendisk___above {
	struct list_head slave_bdevs;
} __attribute__((preserve_access_index));

/*
 * Returns true for a stacked device. It passes its I/O on, mostly in bios of its own, which are
 * counted at the devices below.
 */
static __always_inline bool disk_is_above_others(struct gendisk *disk)
{
	struct gendisk___above *d = (void *)disk;

	return bpf_core_field_exists(d->slave_bdevs) &&
	       BPF_CORE_READ(d, slave_bdevs.next) != &d->slave_bdevs;
}

/*
 * Counts the I/O of devices without requests. Nothing is counted twice: the bios of requests are
 * not traced at completion, and a bio that was passed on, as by nvme's multipath, belongs to the
 * last device. A driver may have advanced the bio to its end (brd since 6.15): its size is unknown
 * then.
 */
SEC("?tp_btf/block_bio_complete")
int BPF_PROG(block__bio_complete, struct request_queue *q, struct bio *bio)
{
	u32 op = BPF_CORE_READ(bio, bi_opf) & OP_MASK, bytes = BPF_CORE_READ(bio, bi_iter.bi_size);
	bool has_data = bytes || BPF_CORE_READ(bio, bi_io_vec);
	struct gendisk *disk = BPF_CORE_READ(bio, bi_bdev, bd_disk);
	struct block_count *c;

	if (BPF_CORE_READ(q, mq_ops) || op >= OP_FIRST_OF_DRIVERS ||
	    BPF_CORE_READ(bio, bi_status) == STATUS_AGAIN || disk_is_above_others(disk))
		return 0;
	c = block_count_find(bio, disk, direction_of(op, has_data));
	if (!c)
		return 0;
	add(c->bytes, bytes);
	add(c->ops, 1);
	if (has_data && !bytes)
		add(c->unsized, 1);
	return 0;
}
