// SPDX-License-Identifier: BSD-2-Clause
/* Maps, touches and gives back memory; large changes in steps, so that the bounds are close. */
#include "torture.h"
#include <sys/vfs.h>

#define STEP (4 * MIB)
#define GUARD_BYTES 4096L /* else neighbours merge, and a huge page may cover both */
#define HUGE_BYTES (2 * MIB)
#define FILE_MIB 64L
#define TMPFS 0x01021994

struct region {
	char *start;
	size_t size;
	enum kind kind;
	bool is_huge;      /* may have transparent huge pages: given back only as a whole */
	bool is_used;      /* the slot is taken */
	bool is_settled;   /* touched as a whole, and not used by an actor */
	bool is_inherited; /* giving it back frees no budget: the parent has the same pages */
};

static struct region regions[NR_REGIONS];

char *region_start(const struct region *r, size_t *size)
{
	*size = r->size;
	return r->start;
}

/* In a child of fork(): whether it has what is not anonymous is up to the kernel, so it is left. */
void regions_inherited(void)
{
	for (int i = 0; i < NR_REGIONS; i++) {
		regions[i].is_inherited = true;
		if (regions[i].kind != ANON)
			regions[i].is_settled = false;
	}
}

/* Takes a free slot, or a settled region, which no other actor can take from then on. */
static struct region *region_take(struct actor *a, bool settled)
{
	long from = chance_between(a, 0, NR_REGIONS - 1);
	struct region *r = NULL;

	space_lock();
	for (int i = 0; i < NR_REGIONS && !r; i++) {
		struct region *one = &regions[(from + i) % NR_REGIONS];

		if (settled ? one->is_settled : !one->is_used)
			r = one;
	}
	if (r) {
		r->is_settled = false;
		r->is_used = true;
	}
	space_unlock();
	return r;
}

static void region_put(struct region *r, bool settled)
{
	space_lock();
	r->is_used = r->is_settled = settled;
	if (!settled)
		r->is_inherited = false;
	space_unlock();
}

/* A region is aligned to huge pages, so that none reaches beyond a step. */
static void touch_steps(const struct actor *a, const struct region *r, bool write)
{
	for (size_t at = 0; at < r->size; at += STEP) {
		size_t size = r->size - at < STEP ? r->size - at : STEP;
		unsigned change = change_begin(a, r->kind, (long)size, (long)size);

		for (char *p = r->start + at; p < r->start + at + size; p += 4096)
			if (write)
				*(volatile char *)p = 1;
			else
				(void)*(volatile char *)p;
		change_end(a, change);
	}
}

static void give_back_steps(const struct actor *a, const struct region *r, size_t step)
{
	for (size_t at = 0; at < r->size; at += step) {
		size_t size = r->size - at < step ? r->size - at : step;
		unsigned change = change_begin(a, r->kind, -(long)size, -(long)size);

		if (madvise(r->start + at, size, MADV_DONTNEED))
			truth_fail("MADV_DONTNEED");
		change_end(a, change);
	}
}

static char *map_aligned(size_t size, int flags, int fd)
{
	size_t whole = size + HUGE_BYTES + 2 * GUARD_BYTES;
	char *p = mmap(NULL, whole, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	char *start;

	if (p == MAP_FAILED)
		truth_fail("mmap of %zu bytes", whole);
	start = (char *)(((uintptr_t)p + GUARD_BYTES + HUGE_BYTES - 1) & -(uintptr_t)HUGE_BYTES);
	if (mmap(start, size, PROT_READ | PROT_WRITE, flags | MAP_FIXED, fd, 0) == MAP_FAILED)
		truth_fail("mmap of %zu bytes", size);
	return start;
}

static void map_region(struct region *r, size_t size, int flags, int fd)
{
	r->size = size;
	r->start = map_aligned(size, flags, fd);
	r->is_inherited = false;
	if (madvise(r->start, size, r->is_huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) &&
	    errno != EINVAL)
		truth_fail("madvise");
}

struct region *memory_grow_anon(struct actor *a, long mib)
{
	struct region *r = mib > 0 && mib <= a->mib ? region_take(a, false) : NULL;

	if (!r)
		return NULL;
	r->kind = ANON;
	r->is_huge = false;
	map_region(r, mib * MIB, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	a->mib -= mib;
	touch_steps(a, r, true);
	region_put(r, true);
	return r;
}

/* A file of TORTURE_FILE's: read, or written, as a mapping that is shared or not. */
static bool grow_file(struct actor *a, struct region *r, long mib)
{
	const char *path = getenv("TORTURE_FILE");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	bool write = chance_one_in(a, 3), shared = !write && chance_one_in(a, 2);
	struct statfs fs;

	if (fd < 0)
		return false;
	if (fstatfs(fd, &fs))
		truth_fail("fstatfs");
	r->kind = write ? ANON : fs.f_type == TMPFS ? SHMEM : FILES;
	map_region(r, (mib < FILE_MIB ? mib : FILE_MIB) * MIB, shared ? MAP_SHARED : MAP_PRIVATE,
		   fd);
	close(fd);
	touch_steps(a, r, write);
	return true;
}

static bool grow_huge_pages(const struct actor *a, struct region *r, long mib)
{
	unsigned change;

	r->kind = HUGETLB;
	r->is_inherited = false;
	r->size = (mib + 1) / 2 * HUGE_BYTES;
	r->start = mmap(NULL, r->size, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB, -1, 0);
	if (r->start == MAP_FAILED)
		return false;
	change = change_begin(a, HUGETLB, (long)r->size, (long)r->size);
	touch_pages(r->start, r->size);
	change_end(a, change);
	return true;
}

/* Memory of any kind. */
void memory_grow(struct actor *a, long mib)
{
	long how = chance_between(a, 0, 9);
	bool done = true;
	struct region *r;

	if (how < 4) {
		memory_grow_anon(a, mib);
		return;
	}
	r = mib > 0 && mib <= a->mib ? region_take(a, false) : NULL;
	if (!r)
		return;
	r->is_huge = how < 6;
	if (how < 6 || how == 6) {
		r->kind = how == 6 ? SHMEM : ANON;
		map_region(r, mib * MIB, (how == 6 ? MAP_SHARED : MAP_PRIVATE) | MAP_ANONYMOUS, -1);
		touch_steps(a, r, true);
	} else if (how < 9) {
		done = grow_file(a, r, mib);
	} else {
		done = grow_huge_pages(a, r, mib < 16 ? mib : 16);
	}
	a->mib -= done ? (long)(r->size / MIB) : 0;
	region_put(r, done);
}

void memory_shrink(struct actor *a)
{
	struct region *r = region_take(a, true);
	unsigned change;

	if (!r)
		return;
	if (r->kind == HUGETLB || r->is_huge || chance_one_in(a, 2)) {
		change = change_begin(a, r->kind, -(long)r->size, -(long)r->size);
		if (munmap(r->start, r->size))
			truth_fail("munmap");
		change_end(a, change);
	} else {
		give_back_steps(a, r, chance_one_in(a, 2) ? STEP : r->size);
		munmap(r->start, r->size);
	}
	if (!r->is_inherited)
		a->mib += (long)(r->size / MIB);
	region_put(r, false);
}

/* Gives the memory back and touches it again, at the same address. */
void memory_retouch(struct actor *a)
{
	struct region *r = region_take(a, true);

	if (r && r->kind == ANON && !r->is_huge && !r->is_inherited) {
		give_back_steps(a, r, r->size);
		touch_steps(a, r, true);
	}
	if (r)
		region_put(r, true);
}
