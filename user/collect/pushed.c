// SPDX-License-Identifier: BSD-2-Clause
#include "collect/pushed.h"

#include "collect/stream.h"

#include <stdlib.h>

#define MOST_WAITING 8192

void pushed_init(struct pushed *p)
{
	*p = (struct pushed){
		.inbox = { .wake_fd = -1, .stop_fd = -1 },
		.marks.queue_bytes = STREAM_QUARTER * 2, /* metrics leave room for them */
		.metrics.queue_bytes = STREAM_QUARTER,
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

void pushed_receive(struct pushed *p, uint64_t samples)
{
	for (struct letter *l = inbox_take(&p->inbox), *next; l; l = next) {
		next = l->next;
		l->next = NULL;
		l->samples = samples;
		if (p->nr_waiting == MOST_WAITING) {
			p->counts.dropped += letter_lines(l);
			free(l);
			continue;
		}
		*p->last = l;
		p->last = &l->next;
		p->nr_waiting++;
	}
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
	for (struct letter *l = p->waiting, *next; l; l = next) {
		next = l->next;
		free(l);
	}
	inbox_done(&p->inbox);
	senders_done(&p->senders);
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
