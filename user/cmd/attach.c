// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon attach [OPTIONS] --pid PID | --cgroup PATH: follows what runs already, and leaves it as it
 * is. */
#include "cmd/cmd.h"
#include "cmd/lent_rights.h"
#include "cmd/prepare.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/procstat.h"
#include "launch/as_user.h"
#include "launch/attach.h"
#include "container/container_cgroup.h"

#include <stdio.h>

static void attach_help(void)
{
	puts("Usage: bpfmon attach [OPTIONS] --pid PID\n"
	     "       bpfmon attach [OPTIONS] --cgroup PATH | --container NAME\n\n"
	     "Follows a process, its threads, its present and its future descendants until they\n"
	     "have ended; or whoever is in a cgroup (a container has one) or below it, until that\n"
	     "is removed. It ends earlier when --duration is over, or on Ctrl-C. What they had\n"
	     "used before does not count.\n");
	options_help(FOR_ATTACH);
	puts("Exit status: 0; 2 usage, not found, not permitted.");
}

static int attach_check_pids(const struct options *o)
{
	for (size_t i = 0; i < o->nr_pids; i++) {
		pid_t leader;

		if (procstat_leader(o->pids[i], &leader)) {
			log_error("there is no process %d to attach to", o->pids[i]);
			return -1;
		}
		if (leader != o->pids[i]) {
			log_error("%d is a thread of process %d; attach to that", o->pids[i],
				  leader);
			return -1;
		}
	}
	return 0;
}

/* @caller: who called sudo and named it, and can learn of no other file by that; or NULL. */
static int attach_check_cgroup(const struct options *o, const struct user *caller,
			       struct cgroup_target *t)
{
	char why[5000] = "";

	if (caller ? as_user_find_cgroup(caller, o->cgroup, t, why, sizeof(why))
		   : cgroup_target_find("/proc/self", o->cgroup, t, why, sizeof(why))) {
		log_error("%s", why);
		return -1;
	}
	if (o->wait_start || cgroup_target_is_populated(t))
		return 0;
	log_error("the cgroup '%s' has no process; --wait-start waits for the first", t->cg.path);
	return -1;
}

/* A container is its cgroup; one that has none is its first process and what descends from it. */
static int attach_check_container(struct options *o, const struct user *caller, struct container *c,
				  char folder[4096])
{
	char why[1024] = "";

	if (container_find(o->container, caller, c, why, sizeof(why))) {
		log_error("%s", why);
		return -1;
	}
	if (!container_cgroup("/proc", c, folder)) {
		o->cgroup = folder;
		return 0;
	}
	log_warn("the container has no cgroup of its own: its first process %d and its descendants "
		 "are followed, not what %s executes in it later",
		 c->pid, c->engine);
	o->pids[0] = c->pid;
	o->nr_pids = 1;
	return 0;
}

int cmd_attach(int argc, char **argv)
{
	uint64_t named_boot_ns = clock_ns(CLOCK_BOOTTIME);
	static struct cgroup_target target; /* static: large for a stack */
	static struct container container;
	static struct user caller;
	static struct options o;
	static char folder[4096];
	struct launch_options l = { 0 };
	struct run run = { 0 };
	int go_on = options_begin(&o, FOR_ATTACH, argc, argv, attach_help);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	recorder_choose(&o, &caller, &l);
	if (o.container && attach_check_container(&o, &caller, &container, folder))
		return EXIT_USAGE;
	/* the folder of a container was not named by the caller */
	if (o.cgroup ? attach_check_cgroup(&o, o.container ? NULL : l.caller, &target)
		     : attach_check_pids(&o))
		return EXIT_USAGE;
	if (lent_rights_check(&o, o.cgroup ? &target : NULL))
		return EXIT_USAGE;
	launch_prepare(&l, &o, &caller, &run);
	run.container = o.container ? container.id : NULL;
	run.engine = o.container ? container.engine : NULL;
	l.collector.targets = o.pids;
	l.collector.nr_targets = o.nr_pids;
	l.collector.named_boot_ns = named_boot_ns;
	l.collector.tracker.can_seed = true;
	l.collector.tracker.cgroup = o.cgroup ? &target : NULL;
	l.collector.hides_others = l.caller && !as_user_sees_others(l.caller);
	l.collector.shown_to = caller.uid;
	l.collector.duration_ns = o.duration_ns;
	l.collector.wait_start = o.wait_start;
	return attach(&l) ? EXIT_USAGE : 0;
}
