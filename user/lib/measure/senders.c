// SPDX-License-Identifier: BSD-2-Clause
#include "measure/senders.h"

#include <errno.h>
#include <stdlib.h>

#define SLACK_NS 10000000 /* times come from two clocks; no PID is reused so soon */

int senders_init(struct senders *s)
{
	*s = (struct senders){
		.ended = calloc(LIVES_KEPT, sizeof(*s->ended)),
		.newest = calloc(LIVES_KEPT, sizeof(*s->newest)),
	};
	if (s->ended && s->newest)
		return 0;
	senders_done(s);
	return -ENOMEM;
}

void senders_done(struct senders *s)
{
	free(s->ended);
	free(s->newest);
	free(s->alive);
	*s = (struct senders){ 0 };
}

/* PIDs are allocated in sequence, which spreads them over the slots. */
static uint64_t *senders_slot(const struct senders *s, uint32_t pid)
{
	return &s->newest[pid % LIVES_KEPT];
}

void senders_add_ended(struct senders *s, const struct process_record *r)
{
	struct life *l = &s->ended[s->nr_ended % LIVES_KEPT];

	*l = (struct life){
		.pid = r->pid,
		.older = *senders_slot(s, r->pid),
		.start_boot_ns = r->start_boot_ns,
		.end_boot_ns = r->end_boot_ns,
	};
	*senders_slot(s, r->pid) = ++s->nr_ended;
}

static int life_compare(const void *a, const void *b)
{
	const struct life *p = a, *q = b;

	return p->pid < q->pid ? -1 : p->pid > q->pid;
}

int senders_set_alive(struct senders *s, const struct drain_row *rows, size_t nr)
{
	s->nr_alive = 0;
	if (nr > s->room_alive) {
		struct life *alive = reallocarray(s->alive, nr * 2, sizeof(*alive));

		if (!alive)
			return -ENOMEM;
		s->alive = alive;
		s->room_alive = nr * 2;
	}
	for (size_t i = 0; i < nr; i++)
		s->alive[i] = (struct life){
			.pid = rows[i].pid,
			.start_boot_ns = rows[i].start_boot_ns,
			.end_boot_ns = rows[i].end_boot_ns,
		};
	s->nr_alive = nr;
	if (nr)
		qsort(s->alive, nr, sizeof(*s->alive), life_compare);
	return 0;
}

static bool life_covers(const struct life *l, uint64_t boot_ns)
{
	return l->start_boot_ns <= boot_ns + SLACK_NS &&
	       (!l->end_boot_ns || l->end_boot_ns + SLACK_NS >= boot_ns);
}

/* The latest life of @pid in the chain that begins at number @before - 1; NULL: none is left. */
static const struct life *senders_find_ended(const struct senders *s, uint32_t pid, uint64_t before)
{
	for (uint64_t at = before; at && at + LIVES_KEPT > s->nr_ended;) {
		const struct life *l = &s->ended[(at - 1) % LIVES_KEPT];

		if (l->pid == pid)
			return l;
		at = l->older;
	}
	return NULL;
}

bool senders_know(const struct senders *s, uint32_t pid, uint64_t boot_ns)
{
	const struct life *l, *end = s->alive + s->nr_alive;
	uint64_t ended_start = 0;
	size_t low = 0, high = s->nr_alive;

	if (!pid)
		return false;
	for (l = senders_find_ended(s, pid, *senders_slot(s, pid)); l;
	     l = senders_find_ended(s, pid, l->older)) {
		if (life_covers(l, boot_ns))
			return true;
		if (!ended_start)
			ended_start = l->start_boot_ns;
	}
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->alive[middle].pid < pid)
			low = middle + 1;
		else
			high = middle;
	}
	for (l = s->alive + low; l < end && l->pid == pid; l++)
		if (l->start_boot_ns != ended_start && life_covers(l, boot_ns))
			return true;
	return false;
}
