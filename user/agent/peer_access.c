// SPDX-License-Identifier: BSD-2-Clause
#include "agent/peer_access.h"

#include "agent/agent.h"
#include "agent/places.h"
#include "agent/users.h"

#include <sys/socket.h>

#define MAX_GROUPS 1024

static bool peer_is_in(int fd, gid_t own, gid_t wanted)
{
	static gid_t groups[MAX_GROUPS]; /* one loop, one thread */
	socklen_t size = sizeof(groups);

	if (wanted == CONFIG_NO_GROUP)
		return false;
	if (own == wanted)
		return true;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, groups, &size))
		return false;
	for (size_t i = 0; i < size / sizeof(*groups); i++)
		if (groups[i] == wanted)
			return true;
	return false;
}

const char *peer_find_access(struct peer *p)
{
	struct agent *a = p->agent;
	struct ucred peer;
	socklen_t size = sizeof(peer);

	if (getsockopt(p->source.fd, SOL_SOCKET, SO_PEERCRED, &peer, &size))
		return "the kernel does not say who connects";
	p->uid = peer.uid;
	p->gid = peer.gid;
	user_name_of(p->uid, p->user, sizeof(p->user));
	p->is_admin = !p->uid || peer_is_in(p->source.fd, p->gid, a->config.admin_group.gid);
	if (!p->is_admin && a->config.user_group.gid != CONFIG_NO_GROUP &&
	    !peer_is_in(p->source.fd, p->gid, a->config.user_group.gid))
		return "the agent serves members of a group only: see user_group in its "
		       "configuration";
	if (!p->is_admin && !agent_may_ask(a, p->uid))
		return "this user asks too often: see requests_per_second in the agent's "
		       "configuration";
	if (a->nr_peers > a->config.clients && !places_make_one(a))
		return "the agent has as many clients as it may: see clients in its configuration";
	return NULL;
}
