// SPDX-License-Identifier: BSD-2-Clause
#include "agent/places.h"

#include "agent/agent.h"

#include <sys/resource.h>

void places_allow_descriptors(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static size_t connections_of(const struct agent *a, uid_t uid)
{
	size_t n = 0;

	for (const struct peer *p = a->peers; p; p = p->next)
		n += p->uid == uid && p->state != PEER_GONE;
	return n;
}

bool places_make_one(struct agent *a)
{
	struct peer *found = NULL;
	size_t most = 0, n;

	/* the one that came last is the first in the list; it is to get the place */
	for (struct peer *p = a->peers ? a->peers->next : NULL; p; p = p->next) {
		if (p->state != PEER_NEW)
			continue;
		n = found && found->uid == p->uid ? most : connections_of(a, p->uid);
		if (n < most)
			continue;
		most = n;
		found = p;
	}
	if (!found)
		return false;
	peer_drop(found, "it was silent, and others wait for a place");
	return true;
}
