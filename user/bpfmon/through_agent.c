// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/through_agent.h"

#include "base/agent_socket.h"
#include "base/log.h"
#include "measure/permission.h"

#include <errno.h>
#include <stdio.h>

static const char *option_of_root(const struct recording_options *o, const char *given)
{
	if (given)
		return given;
	if (o->exact_peak)
		return "--exact-peak";
	if (o->net_peers)
		return "--net-peers";
	if (o->max_tasks)
		return "--max-tasks";
	return o->inject_misses || o->inject_free_misses || refusals_any(&o->refusals) ||
			       o->slow_pss_ms
		       ? "--inject-..."
		       : NULL;
}

#define BOTH_WAYS                                                                                  \
	"%s, or have an agent follow them for all users of this machine: "                         \
	"systemctl enable --now bpfmon-agent"

/* Without rights of its own, through the agent at the usual place; else @why says why not. */
static int agent_connect_usual(const char *needs, char *why, size_t size)
{
	char reason[256];
	int fd = -ENOENT;

	if (!agent_socket_is_there()) {
		snprintf(why, size, BOTH_WAYS, needs);
		return fd;
	}
	fd = agent_socket_connect_alive(AGENT_SOCKET, reason, sizeof(reason));
	if (fd == -ETIMEDOUT)
		snprintf(why, size, "%s", reason);
	else if (fd < 0)
		snprintf(why, size, BOTH_WAYS " (%s)", needs, reason);
	return fd;
}

static int agent_connect_named(const char *path)
{
	char why[512];
	int fd = agent_socket_connect_alive(path, why, sizeof(why));

	if (fd < 0)
		log_error("%s", why);
	return fd;
}

/* Where neither may be used. 0: the run goes on without. @err: of the agent, which is not there, or
 * has been waited for in vain. */
static int unavailable_handle(struct launch_options *l, const struct recording_options *o, int err,
			      const char *why)
{
	if (o->if_unavailable == FAIL_TO_RUN) {
		log_error("%s", why);
		return -EPERM;
	}
	l->is_bare = o->if_unavailable == RUN_BARE;
	l->collector.source = FROM_PROC;
	if (l->is_bare)
		log_warn("the command runs unmeasured: %s", why);
	else if (err == -ETIMEDOUT)
		log_warn("measured from /proc instead: %s", why);
	else
		log_info("measured from /proc: %s", why);
	return 0;
}

int agent_choose(struct launch_options *l, const struct recording_options *o,
		 const char *needs_root, bool may_fall_back)
{
	const char *option = option_of_root(o, needs_root);
	char needs[512], why[1024];
	bool may_load;

	l->agent_fd = -1;
	may_load = !o->agent && !permission_check("/proc", needs, sizeof(needs));
	if (may_load) {
		l->collector.source = may_fall_back && o->if_unavailable == USE_PROCFS
					      ? FROM_BPF_OR_PROC
					      : FROM_BPF;
		return 0;
	}
	l->agent_fd = o->agent ? agent_connect_named(o->agent)
			       : agent_connect_usual(needs, why, sizeof(why));
	if (l->agent_fd < 0 && !o->agent && may_fall_back && !needs_root)
		return unavailable_handle(l, o, l->agent_fd, why);
	if (l->agent_fd < 0 && !o->agent && needs_root)
		log_error("%s; without these there is no %s", why, needs_root);
	else if (l->agent_fd < 0 && !o->agent)
		log_error("%s", why);
	if (l->agent_fd < 0)
		return l->agent_fd;
	if (!option)
		return 0;
	log_error("%s is not offered by the agent at %s; use sudo", option,
		  o->agent ? o->agent : AGENT_SOCKET);
	return -EPERM;
}
