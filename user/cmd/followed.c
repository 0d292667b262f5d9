// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/followed.h"

#include "base/cgroup_mount.h"
#include "base/log.h"
#include "cmd/named_feed.h"
#include "source/live_look.h"
#include "source/node_jobs.h"
#include "waits/task.h"
#include "wire/agent_call.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HAS_IT 1 /* no errno */
#define MOST_ANCESTORS 256

/* A process and those above it. */
struct ancestry {
	pid_t pids[MOST_ANCESTORS];
	size_t nr, nr_asked; /* of the first, what a run must have */
};

/* Of the meta line of a run. */
struct run_of_feed {
	char live_socket[FEED_NAME_BYTES];
	char cgroup[PATH_MAX]; /* that it was attached to, in its hierarchy; "": to none */
};

/* The path of a cgroup in its hierarchy, from a folder of that, or from such a path without its
 * '/'. */
static void cgroup_path_read(const char *word, char path[PATH_MAX])
{
	FILE *f = cgroup_mounts_open("/proc/self");
	struct cgroup_mount m;
	size_t longest = 0;
	int n;

	while (f && cgroup_mount_next(f, &m)) {
		const char *below = cgroup_path_below(word, m.point);

		if (below && strlen(m.point) > longest)
			longest = strlen(m.point);
	}
	if (f)
		fclose(f);
	word += longest;
	n = snprintf(path, PATH_MAX, "/%s", word + strspn(word, "/"));
	while (n > 1 && n < PATH_MAX && path[n - 1] == '/')
		path[--n] = '\0';
}

static int run_take_meta(void *context, struct line *l)
{
	const json_t *attached = json_object_get(l->tree, "attached");
	const char *name = json_string_value(json_object_get(l->tree, "live_socket")),
		   *cgroup = json_string_value(json_object_get(attached, "cgroup"));
	struct run_of_feed *r = context;

	snprintf(r->live_socket, sizeof(r->live_socket), "%s", name ? name : "");
	if (cgroup)
		cgroup_path_read(cgroup, r->cgroup);
	return 1;
}

static int run_take_process(void *context, const struct process_sample *p)
{
	const struct ancestry *a = context;

	for (size_t i = 0; i < a->nr_asked; i++)
		if (p->pid == a->pids[i])
			return HAS_IT;
	return 0;
}

static void ancestry_read(struct ancestry *a, pid_t pid)
{
	struct task_stat stat;

	a->nr = 0;
	while (pid > 0 && a->nr < MOST_ANCESTORS) {
		a->pids[a->nr++] = pid;
		pid = task_stat_read(pid, 0, &stat) ? 0 : stat.parent;
	}
}

/*
 * @path: of the cgroup, in its hierarchy, if @a is NULL. A process that began after the last sample
 * of a tree is followed as the one that started it. Not inlined: the paths of both are 8 KiB of
 * stack.
 */
static __attribute__((noinline)) bool run_follows(const struct stores *s,
						  const struct stored_run *run, struct ancestry *a,
						  const char *path)
{
	struct run_of_feed r = { 0 };
	struct source source = { 0 };
	char why[256];

	if (stores_open_run(s, run, &source))
		return false;
	source_each(&source, PART(LINE_META), run_take_meta, &r);
	source_close(&source);
	if (a)
		a->nr_asked = *r.cgroup ? 1 : a->nr;
	if (a)
		return live_look(r.live_socket, run_take_process, a, why, sizeof(why)) == HAS_IT;
	return !strcmp(r.cgroup, path);
}

int followed_find_run(const struct followed *f, const struct stores *s,
		      const struct stored_runs *running)
{
	char path[PATH_MAX] = "";
	struct ancestry a;

	if (f->pid)
		ancestry_read(&a, f->pid);
	else
		cgroup_path_read(f->cgroup, path);
	for (size_t i = 0; i < running->nr; i++)
		if (run_follows(s, &running->runs[i], f->pid ? &a : NULL, path))
			return (int)i;
	return -ENOENT;
}

/* Keeps the job that holds the cgroup @path and is the innermost so far. */
static void jobs_match(const struct node_job_rows *jobs, const char *path,
		       const struct node_job_row **best)
{
	for (size_t i = 0; i < jobs->nr; i++) {
		const struct node_job_row *job = &jobs->all[i];

		if (job->cgroup && cgroup_path_below(path, job->cgroup) &&
		    (!*best || strlen(job->cgroup) > strlen((*best)->cgroup)))
			*best = job;
	}
}

/* The cgroups of the process, one of each hierarchy. */
static int jobs_match_process(const struct node_job_rows *jobs, pid_t pid,
			      const struct node_job_row **best)
{
	char path[64], *line = NULL;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/cgroup", pid);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	while ((n = getline(&line, &room, f)) > 0) {
		char *cgroup = strchr(line, ':');

		if (line[n - 1] == '\n')
			line[n - 1] = '\0';
		cgroup = cgroup ? strchr(cgroup + 1, ':') : NULL;
		if (cgroup)
			jobs_match(jobs, cgroup + 1, best);
	}
	free(line);
	fclose(f);
	return 0;
}

static int jobs_read_now(struct agent_call *call, struct node_job_rows *jobs)
{
	FILE *f = fdopen(call->stream_fd, "r");
	int err = f ? 0 : -errno;

	if (f) {
		call->stream_fd = -1;
		err = node_jobs_read(jobs, f, NULL);
		fclose(f);
	}
	return err;
}

int followed_find_job(const struct followed *f, const char *agent, char **id, char *why,
		      size_t size)
{
	const struct node_job_row *best = NULL;
	struct node_job_rows jobs = { 0 };
	struct agent_call call;
	char path[PATH_MAX];
	int err = agent_call_node(&call, agent, true, why, size);

	if (err)
		return err;
	err = jobs_read_now(&call, &jobs);
	agent_call_done(&call);
	if (err)
		snprintf(why, size, "the list of the agent is not whole: %s", strerror(-err));
	if (!err && f->pid) {
		jobs_match_process(&jobs, f->pid, &best);
	} else if (!err) {
		cgroup_path_read(f->cgroup, path);
		jobs_match(&jobs, path, &best);
	}
	if (best) {
		*id = strdup(best->id);
		err = *id ? 0 : -ENOMEM;
		snprintf(why, size, "%s", strerror(ENOMEM));
	}
	node_jobs_done(&jobs);
	return err || best ? err : -ENOENT;
}

int followed_report_none(const struct followed *f, bool has_asked)
{
	const char *more = has_asked ? " and no job of the agent" : "";

	if (!f->pid)
		log_error("no run that goes on%s follows the cgroup '%s'; begin with: bpfmon "
			  "attach --cgroup %s",
			  more, f->cgroup, f->cgroup);
	else if (kill(f->pid, 0) && errno == ESRCH)
		log_error("there is no process %d", f->pid);
	else
		log_error("no run that goes on%s follows the process %d; begin with: bpfmon "
			  "attach --pid %d",
			  more, f->pid, f->pid);
	return EXIT_USAGE;
}
