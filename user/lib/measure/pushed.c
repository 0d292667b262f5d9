// SPDX-License-Identifier: BSD-2-Clause
#include "measure/pushed.h"

#include "measure/feed.h"

#include <stdlib.h>

#define MAX_WAITING 8192

/* The bytes that a waiting datagram counts for. */
static size_t datagram_weight(const struct datagram *l)
{
	return sizeof(*l) + l->length;
}

/* PIDs are allocated in sequence: two that send at a time rarely have the same share. */
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
		.marks.queue_bytes = FEED_QUARTER * 2, /* the larger half is for marks alone */
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

void pushed_receive(struct pushed *p, uint64_t samples)
{
	pushed_put(p, inbox_take(&p->inbox), samples);
}

void pushed_stop(struct pushed *p, uint64_t samples)
{
	if (!p->is_on)
		return;
	inbox_stop(&p->inbox);
	pushed_receive(p, samples);
	p->counts.dropped += p->inbox.dropped;
	p->counts.malformed += p->inbox.oversized;
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
