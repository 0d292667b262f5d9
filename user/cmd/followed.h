/* SPDX-License-Identifier: BSD-2-Clause */
/* What follows a process or a cgroup now: a run that goes on, or a job of the node's agent. */
#ifndef CMD_FOLLOWED_H
#define CMD_FOLLOWED_H

#include "cmd/stores.h"

#include <sys/types.h>

/* One of both. */
struct followed {
	pid_t pid;          /* 0: the cgroup */
	const char *cgroup; /* a folder of a mounted hierarchy, or the path of one in it */
};

/*
 * The newest of the @running runs that has the process among its live ones, or one that it descends
 * from, or that was attached to the cgroup. Its place in the list; -ENOENT: none has.
 */
int followed_find_run(const struct followed *f, const struct stores *s,
		      const struct stored_runs *running);
/*
 * The innermost job of the agent at the socket @agent that the process or the cgroup is in. 0, and
 * *@id is its id, the caller's to free; -ENOENT: it is in none that the user may see; or another
 * negative errno, and @why is a sentence without a full stop.
 */
int followed_find_job(const struct followed *f, const char *agent, char **id, char *why,
		      size_t size);
/* One line to the user: nothing does. @has_asked: the agent, too. Returns the exit status. */
int followed_report_none(const struct followed *f, bool has_asked);

#endif
