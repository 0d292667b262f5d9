// SPDX-License-Identifier: BSD-2-Clause
#include "job/stall.h"

static uint64_t bytes_moved(const struct account *a)
{
	return a->rchar + a->wchar + a->read + a->write;
}

static uint64_t changes_count(const struct account *a)
{
	return a->forks + a->exits + a->execs + a->roots + a->left;
}

static bool is_idle(const struct stall *s, uint64_t elapsed_ns, const struct account *a)
{
	return a->processes && bytes_moved(a) == s->moved && changes_count(a) == s->changes &&
	       a->cpu - s->cpu <= (elapsed_ns - s->since_ns) / STALL_CPU_PARTS;
}

static void stall_note_work(struct stall *s, uint64_t elapsed_ns, const struct account *a)
{
	s->since_ns = elapsed_ns;
	s->cpu = a->cpu;
	s->moved = bytes_moved(a);
	s->changes = changes_count(a);
}

bool stall_look(struct stall *s, uint64_t elapsed_ns, const struct account *totals)
{
	bool was_stalled = s->is_stalled;

	if (!s->after_ns)
		return false;
	s->is_stalled = is_idle(s, elapsed_ns, totals);
	if (!s->is_stalled)
		stall_note_work(s, elapsed_ns, totals);
	else if (!was_stalled)
		s->is_stalled = elapsed_ns - s->since_ns >= s->after_ns;
	if (s->is_stalled && !was_stalled)
		s->begun_ns = s->since_ns;
	return s->is_stalled != was_stalled;
}
