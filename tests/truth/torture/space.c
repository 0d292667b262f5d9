// SPDX-License-Identifier: BSD-2-Clause
/* The address space of this image: its name, its lock, what is under way in it, stacks. */
#include "torture.h"
#include <sched.h>

#define NR_STACKS 64

/* Shared by all threads and CLONE_VM children; a forked child has a copy. */
static struct {
	uint64_t owner; /* the process that began it */
	unsigned image; /* how many it has executed */
	unsigned changes;
	int lock; /* the thread that has it, or 0 */
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
 * No mutex of pthread: a CLONE_VM child has the thread area of its creator. A thread that is ended
 * while it has the lock leaves it to those that share the memory and go on.
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

/* In a child of fork(), which is alone in it. */
void space_inherited(uint64_t owner)
{
	space_begin(owner, 0);
	for (int i = 0; i < NR_STACKS; i++) /* those of the parent's threads stay what they are */
		space.stacks[i].is_used = space.stacks[i].at;
	space_unlock();
}

/* From now on the memory of @kind changes by @least to @most bytes, until change_end(). */
unsigned change_begin(const struct actor *a, enum kind kind, long least, long most)
{
	unsigned change = __atomic_add_fetch(&space.changes, 1, __ATOMIC_RELAXED);

	note(a, "change %u %c %ld %ld", change, kind, least, most);
	return change;
}

void change_end(const struct actor *a, unsigned change)
{
	note(a, "changed %u", change);
}

/*
 * Threads get stacks of small pages: with transparent huge pages glibc's own may take 2 MiB at
 * once. They are kept, since nobody knows how much of one is touched. NULL: all are in use.
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
			space.stacks[i].at = map_small(STACK_BYTES);
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
