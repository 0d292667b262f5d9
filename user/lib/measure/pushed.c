// SPDX-License-Identifier: BSD-2-Clause
#include "measure/pushed.h"

#include "base/memory.h"
#include "base/span_call.h"
#include "measure/feed.h"
#include "run/line_protocol.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WAITING 8192

/*
 * The kernel adds PID and time of the sender. Whether the sender was tracked then is known from the
 * lifetimes of processes that ended recently and those of the last drain. An unknown sender waits,
 * because a record comes only when the kernel frees the task. After two samples and a second it is
 * refused; at the end of the run, when all records have come, at once.
 */

static size_t datagram_weight(const struct datagram *l)
{
	return sizeof(*l) + l->length;
}

/* PIDs are sequential: concurrent senders rarely share a counter. */
static size_t *pushed_share(struct pushed *p, const struct datagram *l)
{
	return &p->shares[l->pid % PUSHED_SHARES];
}

static bool pushed_has_room(struct pushed *p, const struct datagram *l)
{
	size_t bytes = datagram_weight(l);

	if (p->nr_waiting == MAX_WAITING || p->waiting_bytes + bytes > PUSHED_WAITING_BYTES)
		return false;
	return !l->is_unknown || (p->unknown_bytes + bytes <= PUSHED_UNKNOWN_BYTES &&
				  *pushed_share(p, l) + bytes <= PUSHED_SHARE_BYTES);
}

void pushed_init(struct pushed *p)
{
	*p = (struct pushed){
		.inbox = { .wake_fd = -1, .stop_fd = -1 },
		.marks.queue_bytes = FEED_QUARTER * 2, /* the larger half is for marks only */
		.metrics.queue_bytes = FEED_QUARTER,
	};
	p->last = &p->waiting;
}

int pushed_start(struct pushed *p, const struct intake *intake)
{
	int err = senders_init(&p->senders);

	if (!err)
		err = inbox_start(&p->inbox, intake);
	p->is_on = !err;
	return err;
}

static void pushed_append(struct pushed *p, struct datagram *l)
{
	l->is_unknown =
		!l->is_udp && !l->is_known && !senders_know(&p->senders, l->pid, l->sent_boot_ns);
	if (!pushed_has_room(p, l)) {
		p->counts.dropped += datagram_count_lines(l);
		free(l);
		return;
	}
	*p->last = l;
	p->last = &l->next;
	p->nr_waiting++;
	p->waiting_bytes += datagram_weight(l);
	if (l->is_unknown) {
		p->unknown_bytes += datagram_weight(l);
		*pushed_share(p, l) += datagram_weight(l);
	}
}

void pushed_remove(struct pushed *p, struct datagram **at)
{
	struct datagram *l = *at;

	*at = l->next;
	if (p->last == &l->next)
		p->last = at;
	p->nr_waiting--;
	p->waiting_bytes -= datagram_weight(l);
	if (l->is_unknown) {
		p->unknown_bytes -= datagram_weight(l);
		*pushed_share(p, l) -= datagram_weight(l);
	}
	free(l);
}

void pushed_put(struct pushed *p, struct datagram *first, uint64_t samples)
{
	for (struct datagram *l = first, *next; l; l = next) {
		next = l->next;
		l->next = NULL;
		l->samples = samples;
		pushed_append(p, l);
	}
}

static int mark_check(size_t length, char *why, size_t size)
{
	if (length && length <= MARK_BYTES)
		return 0;
	if (length)
		snprintf(why, size, "the mark has %zu bytes; the limit is %d", length, MARK_BYTES);
	else
		snprintf(why, size, "the mark has no text");
	return -EBADMSG;
}

/* Counts the lines, and those that are malformed. Returns 0 or -ENOMEM. */
static int metrics_count(const char *text, size_t length, size_t *lines, size_t *malformed)
{
	char *copy = memory_malloc(length + 1), *at = copy;
	struct point point;

	if (!copy)
		return -ENOMEM;
	memcpy(copy, text, length);
	copy[length] = '\0';
	while (at < copy + length) {
		int got = point_parse(&point, &at, copy + length);

		*lines += got != 0;
		*malformed += got < 0;
	}
	free(copy);
	return 0;
}

int pushed_check(const char *text, size_t length, char *why, size_t size)
{
	size_t lines = 0, malformed = 0;

	if (mark_is_one(text, length))
		return mark_check(mark_text_length(text, length), why, size);
	if (metrics_count(text, length, &lines, &malformed) || !malformed)
		return 0;
	if (lines == 1)
		snprintf(why, size, "neither a mark nor valid Influx line protocol");
	else
		snprintf(why, size, "invalid Influx line protocol in %zu of %zu lines", malformed,
			 lines);
	return -EBADMSG;
}

void pushed_receive(struct pushed *p, uint64_t samples)
{
	pushed_put(p, inbox_take(&p->inbox), samples);
}

static void pushed_take_last(struct pushed *p, uint64_t samples)
{
	pushed_receive(p, samples);
	p->counts.dropped += p->inbox.dropped;
	p->counts.malformed += p->inbox.oversized;
}

void pushed_pause(struct pushed *p, uint64_t samples)
{
	if (p->is_on && inbox_pause(&p->inbox))
		pushed_take_last(p, samples);
}

void pushed_stop(struct pushed *p, uint64_t samples)
{
	if (!p->is_on)
		return;
	inbox_stop(&p->inbox);
	pushed_take_last(p, samples);
}

void pushed_done(struct pushed *p)
{
	while (p->waiting)
		pushed_remove(p, &p->waiting);
	inbox_done(&p->inbox);
	senders_done(&p->senders);
	if (p->inbox.is_abandoned)
		return;
	pushed_init(p);
}

bool rate_take(struct rate *r, uint64_t now_ns, uint64_t cost_ns, uint64_t burst_ns)
{
	uint64_t saved;

	if (r->at_ns > now_ns)
		return false;
	saved = r->at_ns ? r->credit_ns + (now_ns - r->at_ns) : burst_ns;

	r->at_ns = now_ns;
	r->credit_ns = saved < burst_ns ? saved : burst_ns;
	if (r->credit_ns < cost_ns)
		return false;
	r->credit_ns -= cost_ns;
	return true;
}

void rate_charge(struct rate *r, uint64_t cost_ns)
{
	uint64_t paid_ns = cost_ns < r->credit_ns ? cost_ns : r->credit_ns;

	r->credit_ns -= paid_ns;
	r->at_ns += cost_ns - paid_ns;
}

#define SLACK_NS 10000000 /* tolerance of two clocks; no PID is reused so soon */

int senders_init(struct senders *s)
{
	*s = (struct senders){
		.ended = memory_calloc(LIVES_KEPT, sizeof(*s->ended)),
		.newest = memory_calloc(LIVES_KEPT, sizeof(*s->newest)),
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

/* PIDs are sequential, which spreads them over the slots. */
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
		struct life *alive = memory_reallocarray(s->alive, nr * 2, sizeof(*alive));

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

/* Returns the latest lifetime of @pid in the chain that begins at index @before - 1, or NULL. */
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
	const struct life *l;
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
	for (; low < s->nr_alive && s->alive[low].pid == pid; low++) {
		l = &s->alive[low];
		if (l->start_boot_ns != ended_start && life_covers(l, boot_ns))
			return true;
	}
	return false;
}
