// SPDX-License-Identifier: BSD-2-Clause
/* One drain for all jobs, repeated until no process is missing, and made at one moment. */
#include "base/clock.h"
#include "measure/books.h"

#include <stdlib.h>

#define DRAIN_AGAIN 3 /* further passes, while a process is missing */
#define DRAIN_TRIES 3
#define HELD_UP_NS (NSEC_PER_MSEC / 2) /* for so long a drain may wait for a CPU */
#define LONG_NS (10 * NSEC_PER_MSEC)   /* one that takes longer would have to wait again */

static void row_keep(void *context, const struct drain_row *row)
{
	rows_add(context, row);
}

static void drain_time_note(struct books *b, uint64_t before_ns)
{
	b->drain_us[(b->tracker.drains - 1) % DRAIN_TIMES] =
		(uint32_t)((b->tracker.drain_ns_total - before_ns) / 1000);
}

static void unread_add(struct books *b, const struct account_key *key)
{
	struct account_key *all = b->unread;
	size_t room = b->room_unread ? b->room_unread * 2 : 64;

	if (b->nr_unread == b->room_unread) {
		all = reallocarray(all, room, sizeof(*all));
		if (!all) {
			b->rows.lost++;
			return;
		}
		b->unread = all;
		b->room_unread = room;
	}
	all[b->nr_unread++] = *key;
}

/* True if the process is alive by its record: then its account is added to the unread ones. */
static bool is_alive(void *context, const struct met *m)
{
	const struct drain_row key = { .signal = m->signal, .serial = m->serial };
	struct books *b = context;
	struct process_record r;

	if (tracker_process(&b->tracker, &key, &r, NULL) || r.flags & PROCESS_ENDED)
		return false;
	unread_add(b, &r.account);
	return true;
}

static size_t unread_find(struct books *b)
{
	b->nr_unread = 0;
	return rows_unread(&b->rows, is_alive, b);
}

/* A pass under churn may miss the one task of a process that has its memory: repeats the pass. */
static void drain_missed(struct books *b)
{
	bool was_whole = tracker_visited_all(&b->tracker);

	rows_settle(&b->rows);
	b->nr_unread = 0;
	if (!tracker_reads_memory(&b->tracker) || (was_whole && !b->rows.nr_blank))
		return;
	for (int i = 0; i < DRAIN_AGAIN && unread_find(b); i++) {
		tracker_drain_again(&b->tracker, row_keep, &b->rows);
		rows_settle(&b->rows);
	}
	unread_find(b);
}

/* False: it had to wait for a CPU, so that some tasks were met long before the others. */
static bool drain_at_once(struct books *b, bool whole)
{
	uint64_t before_ns = b->tracker.drain_ns_total, last_ns = b->tracker.began_ns, cpu_ns;

	/* first the records of ended processes, which have left the map: none is met twice */
	books_consume(b);
	b->ops->drain_begin(b->context);
	rows_again(&b->rows);
	b->drain_boot_ns = clock_ns(CLOCK_BOOTTIME);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID);
	if (whole)
		tracker_drain_whole(&b->tracker, row_keep, &b->rows);
	else
		tracker_drain(&b->tracker, row_keep, &b->rows);
	drain_missed(b);
	drain_time_note(b, before_ns);
	if (b->tracker.began_ns - last_ns > b->longest_ns)
		b->longest_ns = b->tracker.began_ns - last_ns;
	tracker_read_accounts(&b->tracker);
	b->drained_ns = clock_ns(CLOCK_MONOTONIC);
	cpu_ns = clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
	return cpu_ns > LONG_NS || b->drained_ns - b->tracker.began_ns < cpu_ns + HELD_UP_NS;
}

static void socket_report(void *context, const void *item)
{
	const struct socket_row *row = item;
	const struct account_key key = { row->tree, row->cgroup };
	struct books *b = context;
	void *owner = books_owner(b, &key);

	if (owner)
		b->ops->socket(owner, row);
}

static void drain_report(struct books *b)
{
	const struct accounts *a = &b->tracker.accounts;
	void *owner;

	for (size_t i = 0; b->whole_node && i < a->nr; i++)
		b->ops->node_total(b->context, &a->keys[i], &a->totals[i]);
	for (size_t i = 0; b->whole_node && i < b->rows.nr_slices; i++)
		b->ops->node_slice(b->context, &b->rows.slices[i]);
	for (size_t i = 0; i < a->nr; i++)
		if ((owner = books_owner(b, &a->keys[i])))
			b->ops->total(owner, &a->keys[i], &a->totals[i]);
	for (size_t i = 0; i < b->rows.nr_slices; i++)
		if ((owner = books_owner(b, &b->rows.slices[i].account)))
			b->ops->slice(owner, &b->rows.slices[i]);
	for (size_t i = 0; i < b->nr_unread; i++)
		if ((owner = books_owner(b, &b->unread[i])))
			b->ops->unread(owner);
	if (metric_has(&b->tracker.usable, M_net_sockets))
		tracker_each_socket(&b->tracker, socket_report, b);
	b->ops->drain_end(b->context);
}

void books_drain(struct books *b, bool whole)
{
	rows_begin(&b->rows);
	for (int i = 0; i < DRAIN_TRIES; i++)
		if (drain_at_once(b, whole))
			break;
	rows_sort(&b->rows);
	for (size_t i = 0; i < b->rows.nr; i++) {
		if (b->by_cgroup)
			books_name_row(b, &b->rows.all[i]);
		images_touch(&b->images, b->rows.all[i].image, b->drained_ns);
	}
	images_prune(&b->images, b->drained_ns);
	/* before the report: what ends while the jobs process it belongs to the next interval */
	books_consume(b);
	drain_report(b);
}

static int us_compare(const void *a, const void *b)
{
	const uint32_t *p = a, *q = b;

	return *p < *q ? -1 : *p > *q;
}

uint64_t books_drain_median(struct books *b)
{
	size_t n = b->tracker.drains < DRAIN_TIMES ? b->tracker.drains : DRAIN_TIMES;

	if (!n)
		return 0;
	qsort(b->drain_us, n, sizeof(*b->drain_us), us_compare);
	return b->drain_us[n / 2] * 1000ULL;
}
