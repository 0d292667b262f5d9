// SPDX-License-Identifier: BSD-2-Clause
/* Limits of each user: request rate, bytes held, and runs. */
#include "agent/agent.h"
#include "base/clock.h"
#include "base/log.h"

#include <stdbool.h>
#include <sys/resource.h>

#define MOST_BLOCKED_THREADS 4

static struct user_rate *rate_find(struct agent *a, uid_t uid)
{
	struct user_rate *oldest = a->rates;

	for (size_t i = 0; i < AGENT_USERS; i++) {
		if (a->rates[i].at_ns && a->rates[i].uid == uid)
			return &a->rates[i];
		if (a->rates[i].at_ns < oldest->at_ns)
			oldest = &a->rates[i];
	}
	*oldest = (struct user_rate){ .uid = uid, .credit = (double)a->config.requests_per_second };
	return oldest;
}

bool agent_take_request_credit(struct agent *a, uid_t uid)
{
	const double most = (double)a->config.requests_per_second;
	struct user_rate *r = rate_find(a, uid);
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (r->at_ns)
		r->credit += (double)(now_ns - r->at_ns) / NSEC_PER_SEC * most;
	if (r->credit > most)
		r->credit = most;
	r->at_ns = now_ns;
	if (r->credit < 1)
		return false;
	r->credit -= 1;
	return true;
}

static size_t peer_held(const struct peer *p)
{
	size_t bytes =
		p->listener.feed.room + p->message.length + p->described_bytes + p->request_bytes;

	return p->tenant ? bytes + p->tenant->feed.room + live_held(&p->tenant->live) : bytes;
}

size_t agent_spare_bytes(const struct agent *a, const struct peer *of)
{
	size_t held = 0;

	if (of->is_admin)
		return SIZE_MAX;
	for (const struct peer *p = a->peers; p; p = p->next)
		if (p->uid == of->uid)
			held += peer_held(p);
	return held < a->config.user_bytes ? a->config.user_bytes - held : 0;
}

void agent_count_blocked_thread(struct agent *a, uid_t uid)
{
	log_info("the thread that receives data from user %u hangs", uid);
	rate_find(a, uid)->blocked_threads++;
}

bool agent_may_push(struct agent *a, uid_t uid)
{
	return rate_find(a, uid)->blocked_threads < MOST_BLOCKED_THREADS;
}

size_t agent_count_jobs(const struct agent *a, uid_t uid)
{
	size_t n = 0;

	for (const struct peer *p = a->peers; p; p = p->next)
		n += p->uid == uid && p->state > PEER_NEW && p->state < PEER_GONE;
	return n;
}
