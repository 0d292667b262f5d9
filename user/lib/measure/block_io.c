// SPDX-License-Identifier: BSD-2-Clause
#include "measure/block_io.h"

#include "base/cgroup.h"
#include "base/memory.h"
#include "bpfmon.skel.h"
#include "measure/iterator.h"
#include "measure/programs.h"
#include "measure/tracker.h"

#include <bpf/libbpf.h>
#include <dirent.h>
#include <errno.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <unistd.h>

#define BTRFS_MAGIC 0x9123683e

_Static_assert(LATENCY_BUCKETS == BLOCK_BUCKETS && LATENCY_DIRECTIONS == NR_BLOCK_DIRECTIONS,
	       "histograms of the kernel's side and of the model differ");

/* clang-format off */
static const struct {
	enum metric_id bytes, ops, latency; /* M_cpu: none */
} metrics_of[NR_BLOCK_DIRECTIONS] = {
	[BLOCK_READ] = { M_block_read, M_block_read_ops, M_block_read_latency },
	[BLOCK_WRITE] = { M_block_write, M_block_write_ops, M_block_write_latency },
	[BLOCK_DISCARD] = { M_block_discard, M_block_discard_ops, M_cpu },
	[BLOCK_FLUSH] = { M_cpu, M_block_flush_ops, M_cpu },
};
/* clang-format on */

uint64_t block_target_id(const struct cgroup_target *target, char *why, size_t size)
{
	const char *controller;
	char folder[4096], path[5000];
	struct stat st;

	if (!target) {
		snprintf(why, size, "no cgroup; see --own-cgroup and attach --cgroup");
		return 0;
	}
	controller = target->cg.is_v2 ? "io" : "blkio";
	if (cgroup_target_find_twin("/proc/self", target, controller, folder)) {
		snprintf(why, size, "no cgroup of that path in the blkio hierarchy");
		return 0;
	}
	snprintf(path, sizeof(path), "%s/io.stat", folder);
	if (target->cg.is_v2 && access(path, F_OK)) {
		snprintf(why, size,
			 "the io controller is disabled for the cgroup; an ancestor counts its "
			 "block I/O with that of others");
		return 0;
	}
	if (!stat(folder, &st))
		return st.st_ino;
	snprintf(why, size, "the cgroup has just been removed");
	return 0;
}

bool block_hierarchy_fits(const struct cgroup_target *root)
{
	char path[5000], line[512];
	bool fits;
	FILE *f;

	if (!root->cg.is_v2)
		return !cgroup_target_find_twin("/proc/self", root, "blkio", path) &&
		       !strcmp(path, root->cg.path);
	snprintf(path, sizeof(path), "%s/cgroup.controllers", root->cg.path);
	f = memory_fopen(path, "re");
	fits = f && fgets(line, sizeof(line), f) && list_has_word(line, "io", " \n");
	if (f)
		fclose(f);
	return fits;
}

/* Returns true if the I/O of a file there also reaches a block device. */
static bool file_is_on_a_device(const char *path)
{
	struct statfs fs;
	struct stat st;

	if (stat(path, &st))
		return true; /* unknown: count too little rather than twice */
	if (major(st.st_dev) || S_ISBLK(st.st_mode))
		return true;
	if (statfs(path, &fs))
		return true;
	return fs.f_type == BTRFS_MAGIC || fs.f_type == OVERLAYFS_SUPER_MAGIC;
}

static bool device_has_no_slaves(const char *path)
{
	DIR *d = memory_opendir(path);
	bool is_empty = true;
	struct dirent *e;

	while (d && (e = readdir(d)))
		is_empty &= e->d_name[0] == '.';
	if (d)
		closedir(d);
	return is_empty;
}

bool block_device_is_stacked(const char *sys, __u32 number)
{
	const unsigned of_major = number >> BLOCK_MINOR_BITS,
		       of_minor = number & ((1U << BLOCK_MINOR_BITS) - 1);
	char path[200], file[4096] = "";
	FILE *f;

	snprintf(path, sizeof(path), "%s/dev/block/%u:%u/slaves", sys, of_major, of_minor);
	if (!device_has_no_slaves(path))
		return true;
	snprintf(path, sizeof(path), "%s/dev/block/%u:%u/loop/backing_file", sys, of_major,
		 of_minor);
	f = memory_fopen(path, "re");
	if (!f)
		return false;
	if (fgets(file, sizeof(file), f))
		file[strcspn(file, "\n")] = '\0';
	fclose(f);
	return file_is_on_a_device(file);
}

void block_io_begin(struct block_io *b)
{
	for (size_t i = 0; i < b->nr; i++) {
		struct block_device *d = &b->devices[i];

		memcpy(d->has, d->has_ended, sizeof(d->has));
		memcpy(d->count, d->ended, sizeof(d->count));
	}
}

static struct block_device *block_device_get(struct block_io *b, __u32 number)
{
	struct block_device *all;

	for (size_t i = 0; i < b->nr; i++)
		if (b->devices[i].number == number)
			return &b->devices[i];
	if (b->nr == MAX_BLOCK_DEVICES)
		return NULL;
	all = memory_reallocarray(b->devices, b->nr + 1, sizeof(*all));
	if (!all)
		return NULL;
	b->devices = all;
	all = &all[b->nr++];
	*all = (struct block_device){ .number = number,
				      .is_stacked = block_device_is_stacked("/sys", number) };
	return all;
}

static void count_add(struct block_count *sum, const struct block_count *c)
{
	sum->bytes += c->bytes;
	sum->ops += c->ops;
	sum->unsized += c->unsized;
	sum->timed += c->timed;
	sum->latency_ns += c->latency_ns;
	for (int i = 0; i < BLOCK_BUCKETS; i++)
		sum->buckets[i] += c->buckets[i];
}

static void count_put(struct block_count *sum, bool *has, const struct block_count *c)
{
	if (*has)
		count_add(sum, c);
	else
		*sum = *c;
	*has = true;
}

static struct block_device *block_device_of(struct block_io *b, const struct block_key *key)
{
	struct block_device *d =
		key->direction < NR_BLOCK_DIRECTIONS ? block_device_get(b, key->device) : NULL;

	b->forgone += !d;
	return d;
}

void block_io_add(struct block_io *b, const struct block_key *key, const struct block_count *count)
{
	struct block_device *d = block_device_of(b, key);

	if (d)
		count_put(&d->count[key->direction], &d->has[key->direction], count);
}

void block_io_add_ended(struct block_io *b, const struct block_key *key,
			const struct block_count *count)
{
	struct block_device *d = block_device_of(b, key);

	if (d)
		count_put(&d->ended[key->direction], &d->has_ended[key->direction], count);
}

static void count_keep(const struct block_device *d, int direction, const struct block_count *c,
		       struct jsonw *j)
{
	const __u64 *fields = (const __u64 *)c;

	jsonw_object(j, NULL);
	jsonw_uint(j, "device", d->number);
	jsonw_int(j, "direction", direction);
	jsonw_hex(j, "disk", c->disk, strnlen(c->disk, sizeof(c->disk) - 1));
	jsonw_array(j, "fields");
	for (size_t i = 0; i < offsetof(struct block_count, disk) / sizeof(*fields); i++)
		jsonw_uint(j, NULL, fields[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

void block_io_keep(const struct block_io *b, struct jsonw *j)
{
	jsonw_object(j, "block_io");
	for (int of_ended = 0; of_ended < 2; of_ended++) {
		jsonw_array(j, of_ended ? "ended" : "all");
		for (size_t i = 0; i < b->nr * NR_BLOCK_DIRECTIONS; i++) {
			const struct block_device *d = &b->devices[i / NR_BLOCK_DIRECTIONS];
			int k = (int)(i % NR_BLOCK_DIRECTIONS);

			if (of_ended ? d->has_ended[k] : d->has[k])
				count_keep(d, k, of_ended ? &d->ended[k] : &d->count[k], j);
		}
		jsonw_array_end(j);
	}
	jsonw_object_end(j);
}

void block_io_resume(struct block_io *b, const json_t *o, bool same_books)
{
	const json_t *counts = json_object_get(o, same_books ? "ended" : "all");

	for (size_t i = 0; i < json_array_size(counts); i++) {
		const json_t *one = json_array_get(counts, i);
		const json_t *fields = json_object_get(one, "fields");
		const char *disk = json_string_value(json_object_get(one, "disk"));
		const struct block_key key = {
			.device = (__u32)json_integer_value(json_object_get(one, "device")),
			.direction = (__u32)json_integer_value(json_object_get(one, "direction")),
		};
		struct block_count c = { 0 };

		for (size_t k = 0; k < offsetof(struct block_count, disk) / sizeof(__u64); k++)
			((__u64 *)&c)[k] = (__u64)json_integer_value(json_array_get(fields, k));
		if (disk && strlen(disk) < 2 * sizeof(c.disk))
			hex_decode(c.disk, disk);
		block_io_add_ended(b, &key, &c);
	}
}

/* Adds one value if it is usable. */
static void value_add(uint64_t *value, struct metric_set *have, const struct metric_set *usable,
		      enum metric_id id, uint64_t n)
{
	if (id == M_cpu || !metric_has(usable, id))
		return;
	value[id] += n;
	metric_put(have, id);
}

static void direction_add(uint64_t *value, struct metric_set *have, const struct metric_set *usable,
			  int direction, const struct block_count *c)
{
	if (!c->unsized)
		value_add(value, have, usable, metrics_of[direction].bytes, c->bytes);
	value_add(value, have, usable, metrics_of[direction].ops, c->ops);
	if (c->timed || !c->ops)
		value_add(value, have, usable, metrics_of[direction].latency, c->latency_ns);
}

static void device_put(const struct block_device *d, const struct metric_set *usable,
		       struct sample *smp)
{
	struct instance *i = NULL;

	for (int at = 0; at < NR_BLOCK_DIRECTIONS; at++) {
		if (!d->has[at])
			continue;
		if (!i)
			i = sample_add_instance(smp, "device", d->count[at].disk);
		if (i)
			direction_add(i->value, &i->have, usable, at, &d->count[at]);
		if (!d->is_stacked)
			direction_add(smp->value, &smp->have, usable, at, &d->count[at]);
	}
}

/* Drops from the sum a metric that is unknown for one of the devices. */
static void unknown_drop(const struct block_device *d, int direction, struct metric_set *have)
{
	const struct block_count *c = &d->count[direction];

	if (!d->has[direction] || d->is_stacked)
		return;
	if (c->unsized && metrics_of[direction].bytes != M_cpu)
		metric_drop(have, metrics_of[direction].bytes);
	if (c->ops && !c->timed && metrics_of[direction].latency != M_cpu)
		metric_drop(have, metrics_of[direction].latency);
}

void block_io_put(const struct block_io *b, const struct metric_set *usable, struct sample *smp)
{
	static const struct block_count none;

	for (int at = 0; at < NR_BLOCK_DIRECTIONS; at++)
		direction_add(smp->value, &smp->have, usable, at, &none);
	for (size_t i = 0; i < b->nr; i++)
		device_put(&b->devices[i], usable, smp);
	for (size_t i = 0; i < b->nr; i++)
		for (int at = 0; at < NR_BLOCK_DIRECTIONS; at++)
			unknown_drop(&b->devices[i], at, &smp->have);
	sample_bound_instances(smp, "device", M_block_write, INSTANCES_SHOWN);
}

static bool device_put_latencies(const struct block_device *d, struct block_latencies *l)
{
	struct block_latency *to;

	for (unsigned at = 0; at < NR_BLOCK_DIRECTIONS; at++) {
		if (!d->has[at] || !d->count[at].timed)
			continue;
		to = latencies_get(l, d->count[at].disk, at);
		if (!to)
			return false;
		for (int i = 0; i < BLOCK_BUCKETS; i++)
			to->count[i] += d->count[at].buckets[i];
	}
	return true;
}

void block_io_put_latencies(const struct block_io *b, struct block_latencies *l)
{
	latencies_done(l);
	for (size_t i = 0; i < b->nr; i++)
		if (!device_put_latencies(&b->devices[i], l))
			return;
}

void block_io_done(struct block_io *b)
{
	free(b->devices);
	b->devices = NULL;
	b->nr = 0;
}

#define BLOCKS_AT_ONCE 64

/* Without one of the programs the sum would lack devices. */
static bool block_is_counted(const struct tracker *t)
{
	return optionals_have_group(&t->optional, GROUP_OF_BLOCK);
}

void tracker_block_follow(struct tracker *t, uint64_t id)
{
	if (t->proc)
		return;
	/* requests that complete in between must not match at the old level */
	t->skel->bss->block_target = 0;
	t->skel->bss->block_level = 0;
	t->skel->bss->block_target = id;
}

int tracker_each_block(const struct tracker *t,
		       void (*fn)(void *context, const struct block_key *key,
				  const struct block_count *count),
		       void *context)
{
	static struct block_count counts[BLOCKS_AT_ONCE];
	static struct block_key keys[BLOCKS_AT_ONCE];
	struct map_walk walk = { .map = t->proc ? NULL : t->skel->maps.blocks };
	int nr;

	if (!block_is_counted(t))
		return -ENODATA;
	while ((nr = map_walk_next(&walk, keys, counts, BLOCKS_AT_ONCE)) > 0)
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
