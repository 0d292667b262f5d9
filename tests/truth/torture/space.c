// SPDX-License-Identifier: BSD-2-Clause
/* The address space of this image: its name, its lock, changes in progress, stacks. */
#include "torture.h"
#include <sched.h>

#define NR_STACKS 64

/* Shared by all threads and CLONE_VM children; a forked child has a copy. */
static struct {
	uint64_t owner; /* the process that created it */
	unsigned image; /* how many images that had before */
	unsigned changes;
	int lock; /* the thread that holds it, or 0 */
	struct {
		char *at;
		bool is_used;
	} stacks[NR_STACKS];
} space;

void space_begin(uint64_t owner, unsigned image)
{
	space.owner = owner;
	space.image = image;
}

void space_names(uint64_t *owner, unsigned *image)
{
	*owner = space.owner;
	*image = space.image;
}

/*
 * Not a pthread mutex: a CLONE_VM child has the thread area of its creator. A lock whose thread was
 * killed passes to the others that share the memory.
 */
void space_lock(void)
{
	int self = (int)syscall(SYS_gettid), owner = 0;

	while (!__atomic_compare_exchange_n(&space.lock, &owner, self, false, __ATOMIC_ACQUIRE,
					    __ATOMIC_RELAXED)) {
		if (!kill(owner, 0) || errno != ESRCH)
			owner = 0;
		sched_yield();
	}
}

void space_unlock(void)
{
	__atomic_store_n(&space.lock, 0, __ATOMIC_RELEASE);
}

/* In a child of fork(), which has the space for itself. */
void space_inherited(uint64_t owner)
{
	space_begin(owner, 0);
	for (int i = 0; i < NR_STACKS; i++) /* the stacks of the parent's threads stay mapped */
		space.stacks[i].is_used = space.stacks[i].at;
	space_unlock();
}

/* From now on the memory of @kind changes by @least to @most bytes, until change_end(). */
unsigned change_begin(const struct actor *a, enum kind kind, long least, long most)
{
	unsigned change = __atomic_add_fetch(&space.changes, 1, __ATOMIC_RELAXED);

	log_note(a, "change %u %c %ld %ld", change, kind, least, most);
	return change;
}

void change_end(const struct actor *a, unsigned change)
{
	log_note(a, "changed %u", change);
}

/*
 * Threads get stacks of small pages: with transparent huge pages those of glibc may take 2 MiB at
 * once. They stay mapped, as it is unknown how much of one is touched. NULL: all are in use.
 */
char *stack_take(const struct actor *a)
{
	char *found = NULL;
	int i;

	space_lock();
	for (i = 0; i < NR_STACKS && space.stacks[i].is_used; i++)
		;
	if (i < NR_STACKS) {
		space.stacks[i].is_used = true;
		if (!space.stacks[i].at) {
			change_end(a, change_begin(a, ANON, 0, STACK_BYTES));
			space.stacks[i].at = memory_map_small(STACK_BYTES);
		}
		found = space.stacks[i].at;
	}
	space_unlock();
	return found;
}

void stack_give(char *stack)
{
	space_lock();
	for (int i = 0; i < NR_STACKS; i++)
		if (space.stacks[i].at == stack)
			space.stacks[i].is_used = false;
	space_unlock();
}
