// SPDX-License-Identifier: BSD-2-Clause
/*
 * A page that parent and children share. No pipe: children of other threads would inherit its ends,
 * and two such groups would wait for each other for ever.
 */
#include "torture.h"

struct gate *gate_new(void)
{
	return memory_map_shared(sizeof(struct gate));
}

void gate_free(struct gate *gate)
{
	munmap(gate, sizeof(*gate));
}

void gate_arrive(struct gate *gate)
{
	__atomic_add_fetch(&gate->arrived, 1, __ATOMIC_SEQ_CST);
}

void gate_open(struct gate *gate)
{
	__atomic_store_n(&gate->is_open, 1, __ATOMIC_SEQ_CST);
}

/* False when the run is over before @value is @least. */
bool gate_wait(const unsigned *value, unsigned least, const struct actor *a)
{
	while (__atomic_load_n(value, __ATOMIC_SEQ_CST) < least) {
		if (actor_is_over(a))
			return false;
		sleep_seconds(0.0002);
	}
	return true;
}
