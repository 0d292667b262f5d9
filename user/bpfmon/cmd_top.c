// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon top: finds the run and executes bpfmon-top to show it, with the rights of the calling user
 * and without any capability.
 */
#include "base/agent_socket.h"
#include "base/cgroup.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/libexec.h"
#include "bpfmon/named_feed.h"
#include "bpfmon/subcommands.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "options/option_values.h"
#include "run/agent_call.h"
#include "store/live_source.h"
#include "store/named_run.h"
#include "store/node_jobs.h"
#include "store/stores.h"
#include "text/terminal.h"
#include "waits/task.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define TOP_WORDS 160

struct top_command {
	char *words[TOP_WORDS + 1]; /* owned */
	size_t nr;
};

/*
 * The target of --pid or --cgroup, to be found in a run in progress or a job of the node's agent.
 */
struct top_target {
	pid_t pid;          /* 0: the cgroup */
	const char *cgroup; /* a folder of a mounted hierarchy, or a path in it */
};

#define IS_TRACKED 1 /* not an errno */
#define MOST_ANCESTORS 256

/* A process and its ancestors. */
struct ancestry {
	pid_t pids[MOST_ANCESTORS];
	size_t nr, nr_searched; /* how many of them may be in the run */
};

/* From the meta line of a run. */
struct run_of_feed {
	char live_socket[FEED_NAME_BYTES];
	char cgroup[PATH_MAX]; /* path, in its hierarchy, that the run was attached to, or "" */
};

/*
 * Returns in @path the cgroup's path in its hierarchy. @word is a folder of a mounted hierarchy, or
 * such a path without its '/'.
 */
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

	for (size_t i = 0; i < a->nr_searched; i++)
		if (p->pid == a->pids[i])
			return IS_TRACKED;
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
 * Returns true if the run tracks a process of @a or, if @a is NULL, the cgroup @path in its
 * hierarchy. A process born after the last sample of a tree is found by its parent. Not inlined:
 * the paths of both take 8 KiB of stack.
 */
static __attribute__((noinline)) bool run_tracks(const struct stores *s,
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
		a->nr_searched = *r.cgroup ? 1 : a->nr;
	if (a)
		return live_read_processes(r.live_socket, run_take_process, a, NULL, why,
					   sizeof(why)) == IS_TRACKED;
	return !strcmp(r.cgroup, path);
}

/*
 * Returns the index of the newest of the @running runs that has the process or an ancestor of it
 * among its live processes, or is attached to the cgroup; or -ENOENT.
 */
static int top_target_find_run(const struct top_target *f, const struct stores *s,
			       const struct stored_runs *running)
{
	char path[PATH_MAX] = "";
	struct ancestry a;

	if (f->pid)
		ancestry_read(&a, f->pid);
	else
		cgroup_path_read(f->cgroup, path);
	for (size_t i = 0; i < running->nr; i++)
		if (run_tracks(s, &running->runs[i], f->pid ? &a : NULL, path))
			return (int)i;
	return -ENOENT;
}

static int jobs_read_now(struct agent_call *call, struct node_job_rows *jobs)
{
	FILE *f = memory_fdopen(call->stream_fd, "r");
	int err = f ? 0 : -errno;

	if (f) {
		call->stream_fd = -1;
		err = node_jobs_read(jobs, f, NULL);
		fclose(f);
	}
	return err;
}

/*
 * Finds the innermost job, of the agent at socket @agent, that contains the process or cgroup.
 * Returns 0 with its ID in *@id, which the caller frees; -ENOENT if no visible job does; or another
 * negative errno with a sentence without a full stop in @why.
 */
static int top_target_find_job(const struct top_target *f, const char *agent, char **id, char *why,
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
		snprintf(why, size, "the list from the agent is incomplete: %s", strerror(-err));
	if (!err && f->pid) {
		job_match_process(&jobs, f->pid, &best);
	} else if (!err) {
		cgroup_path_read(f->cgroup, path);
		job_match_cgroup(&jobs, path, &best);
	}
	if (best) {
		*id = memory_strdup(best->id);
		err = *id ? 0 : -ENOMEM;
		snprintf(why, size, "%s", strerror(ENOMEM));
	}
	node_jobs_done(&jobs);
	return err || best ? err : -ENOENT;
}

/*
 * Reports that nothing tracks the target. @has_asked: the agent was asked, too. Returns the exit
 * status.
 */
static int top_target_report_none(const struct top_target *f, bool has_asked)
{
	const char *more = has_asked ? " and no job of the agent" : "";

	if (!f->pid)
		log_error("no current run%s measures cgroup '%s'; start one with: bpfmon attach "
			  "--cgroup %s",
			  more, f->cgroup, f->cgroup);
	else if (kill(f->pid, 0) && errno == ESRCH)
		log_error("no process %d", f->pid);
	else
		log_error("no current run%s measures process %d; start one with: bpfmon attach "
			  "--pid %d",
			  more, f->pid, f->pid);
	return EXIT_USAGE;
}

struct top_options {
	struct common_options common; /* common.words: the run, or a file */
	struct store_options store;
	const char *job, *agent;
	struct top_target target;
};

static int target_pid_parse(void *options, const char *text)
{
	struct top_options *o = options;

	return process_parse(text, &o->target.pid);
}

/* clang-format off */
#define AT(field) offsetof(struct top_options, field)

static const struct option_row top_rows[] = {
	{ "job", 0, "ID", false, "Show the current run of this job, otherwise the job of the node", text_parse, AT(job), GUARD_NONE },
	{ "pid", 'p', "PID", false, "Show the run or job of this process, and select the process", target_pid_parse, 0, GUARD_ENVIRONMENT },
	{ "cgroup", 0, "PATH", false, "Show the run or job of this cgroup", text_parse, AT(target.cgroup), GUARD_ENVIRONMENT },
	{ 0 }
};

static const struct option_row agent_rows[] = {
	{ "agent", 0, "SOCKET", false, "Ask the agent at SOCKET (default " AGENT_SOCKET ")", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group top_groups[] = {
	{ top_rows, 0, false },
	{ agent_rows, 0, true },
	{ store_rows, AT(store), true },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static void top_help(void)
{
	puts("Usage: bpfmon top [OPTIONS] [RUN]\n"
	     "\n"
	     "Shows the processes of a run as a tree, each with its own use and the sum of all\n"
	     "processes that it started, including ended ones. RUN is a number from `bpfmon list`, "
	     "a\n"
	     "name, or a file of JSON Lines, which may still be growing (-: stdin). Without RUN, "
	     "top\n"
	     "lists the current runs and, with an agent, the jobs of this node: your own, or all "
	     "for\n"
	     "root and members of the admin group. The left and right arrows move through the time "
	     "of\n"
	     "a run; ? shows all keys. top sends no signals to processes.\n"
	     "\n"
	     "--pid and --cgroup show the newest current run that measures the process or "
	     "cgroup,\n"
	     "otherwise the innermost job of the agent that contains it.\n");
	options_print(&subcommand_top);
	puts("Exit status: 0: success, 2: usage error, no such run, or no terminal, 128 + N: ended "
	     "by\nsignal N.");
}

/* Ignores words beyond TOP_WORDS. */
static void top_command_add(struct top_command *c, const char *word)
{
	if (c->nr < TOP_WORDS)
		c->words[c->nr++] = memory_strdup(word);
}

static void top_command_done(struct top_command *c)
{
	while (c->nr)
		free(c->words[--c->nr]);
}

static void top_begin(struct top_command *c, const struct top_options *o)
{
	static const char *const colours[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"
	};

	top_command_add(c, "bpfmon-top");
	top_command_add(c, "--color");
	top_command_add(c, colours[o->common.colour]);
}

/* Executes bpfmon-top. Returns only on failure: the exit status, after a message. */
static int top_command_execute(struct top_command *c)
{
	char path[PATH_MAX];

	if (libexec_find("bpfmon-top", path))
		return EXIT_USAGE;
	execv(path, c->words);
	log_error("cannot execute %s: %s", path, strerror(errno));
	return EXIT_USAGE;
}

static int top_show_stored(struct top_command *c, const struct stores *s,
			   const struct stored_run *run, const char *label)
{
	char number[32];

	snprintf(number, sizeof(number), "%" PRId64, run->id);
	top_command_add(c, "--store");
	top_command_add(c, s->path[run->source]);
	top_command_add(c, "--run");
	top_command_add(c, number);
	top_command_add(c, "--label");
	top_command_add(c, label);
	if (run->state == RUN_RUNNING)
		top_command_add(c, "--running");
	return top_command_execute(c);
}

static int top_show_named(struct top_command *c, const struct top_options *o)
{
	static const struct run_word_rules rules;
	struct named_runs n;
	int status = EXIT_USAGE;

	if (!named_runs_find(&n, &o->store, o->common.words, &rules, NULL)) {
		if (n.list[0].file) {
			top_command_add(c, "--");
			top_command_add(c, n.list[0].file);
			status = top_command_execute(c);
		} else {
			status = top_show_stored(c, &n.stores, &n.list[0].run, n.list[0].label);
		}
	}
	named_runs_done(&n);
	return status;
}

static bool top_has_agent(const struct top_options *o)
{
	return o->agent || agent_socket_is_there();
}

static void top_add_agent(struct top_command *c, const struct top_options *o)
{
	int fd = agent_socket_of_root();
	char number[16];

	top_command_add(c, "--agent");
	top_command_add(c, o->agent ? o->agent : AGENT_SOCKET);
	if (fd < 0)
		return;
	snprintf(number, sizeof(number), "%d", fd);
	top_command_add(c, "--agent-fd");
	top_command_add(c, number);
}

/*
 * Under sudo the jobs are those of root, as in `bpfmon jobs`: a child connects to the agent as
 * root. This process, and bpfmon-top, have the rights of the caller.
 */
static int top_leave_root(const struct top_options *o)
{
	struct user caller;
	bool was_sudo;
	int err = 0;

	user_find_caller(&caller, &was_sudo);
	if (!was_sudo)
		return 0;
	if (top_has_agent(o))
		err = agent_socket_stay_root(o->agent ? o->agent : AGENT_SOCKET);
	if (!err)
		err = user_set_environment(&caller);
	if (err)
		log_error("cannot prepare to become user %s: %s", caller.name, strerror(-err));
	return err;
}

static int top_show_list(struct top_command *c, const struct top_options *o)
{
	struct stores s;
	int status;

	if (stores_find(&s, &o->store))
		return EXIT_USAGE;
	for (size_t i = 0; i < s.nr; i++) {
		top_command_add(c, "--store");
		top_command_add(c, s.path[i]);
	}
	if (top_has_agent(o))
		top_add_agent(c, o);
	status = top_command_execute(c);
	stores_done(&s);
	return status;
}

/* Finds the runs in progress, newest first. @job may be NULL. */
static int top_find_running(const struct top_options *o, const char *job, struct stores *s,
			    struct stored_runs *running)
{
	const struct run_filter filter = { .job = job, .state = ONLY_RUNNING };
	int err = stores_find(s, &o->store);

	if (!err)
		err = stores_query(s, &filter, running);
	if (!err)
		stored_runs_sort(running, BY_START);
	return err;
}

static int top_show_job_of_node(struct top_command *c, const struct top_options *o, const char *id)
{
	top_add_agent(c, o);
	top_command_add(c, "--job");
	top_command_add(c, id);
	top_command_add(c, "--label");
	top_command_add(c, id);
	return top_command_execute(c);
}

static int top_show_job(struct top_command *c, const struct top_options *o, const struct stores *s,
			const struct stored_runs *running)
{
	char label[RUN_LABEL_BYTES];

	if (running->nr) {
		snprintf(label, sizeof(label), "job %s", o->job);
		return top_show_stored(c, s, &running->runs[0], label);
	}
	if (top_has_agent(o))
		return top_show_job_of_node(c, o, o->job);
	log_error("no current run of job '%s', and no agent that knows the jobs of this node; see "
		  "'bpfmon agent --help'",
		  o->job);
	return EXIT_USAGE;
}

static int top_show_job_of_target(struct top_command *c, const struct top_options *o)
{
	const char *agent = o->agent ? o->agent : AGENT_SOCKET;
	char *id = NULL, why[256];
	int err = -ENOENT, status;

	if (!top_has_agent(o))
		return top_target_report_none(&o->target, false);
	err = top_target_find_job(&o->target, agent, &id, why, sizeof(why));
	if (err == -ENOENT)
		return top_target_report_none(&o->target, true);
	if (err) {
		log_error("no current run measures the process or cgroup, and %s", why);
		return EXIT_USAGE;
	}
	status = top_show_job_of_node(c, o, id);
	free(id);
	return status;
}

/* Prefers a run to a job, because it was started for this purpose. */
static int top_show_target(struct top_command *c, const struct top_options *o,
			   const struct stores *s, const struct stored_runs *running)
{
	int at = top_target_find_run(&o->target, s, running);
	char label[RUN_LABEL_BYTES], pid[16];

	if (o->target.pid) {
		snprintf(pid, sizeof(pid), "%d", o->target.pid);
		top_command_add(c, "--select");
		top_command_add(c, pid);
	}
	if (at < 0)
		return top_show_job_of_target(c, o);
	snprintf(label, sizeof(label), "%s%" PRId64, s->prefix[running->runs[at].source],
		 running->runs[at].id);
	return top_show_stored(c, s, &running->runs[at],
			       running->runs[at].name ? running->runs[at].name : label);
}

static int top_show_running(struct top_command *c, const struct top_options *o)
{
	struct stored_runs running = { 0 };
	struct stores s = { 0 };
	int status = EXIT_USAGE;

	if (!top_find_running(o, o->job, &s, &running))
		status = o->job ? top_show_job(c, o, &s, &running)
				: top_show_target(c, o, &s, &running);
	stored_runs_done(&running);
	stores_done(&s);
	return status;
}

static int cmd_top(int argc, char **argv)
{
	struct top_command c = { 0 };
	struct top_options o;
	int go_on = options_begin(&subcommand_top, &o, argc, argv), status;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (!isatty(STDOUT_FILENO)) {
		log_error("top needs a terminal, but stdout is not one; try 'bpfmon show' or "
			  "'bpfmon jobs'");
		return EXIT_USAGE;
	}
	if (top_leave_root(&o))
		return EXIT_USAGE;
	top_begin(&c, &o);
	if (o.job || o.target.pid || o.target.cgroup)
		status = top_show_running(&c, &o);
	else
		status = *o.common.words ? top_show_named(&c, &o) : top_show_list(&c, &o);
	top_command_done(&c);
	return status;
}

static int top_parse(void *options, int argc, char **argv)
{
	const struct top_options *o = options;
	int err = options_parse(&subcommand_top, options, argc, argv);

	int nr_targets = !!o->job + !!o->target.pid + !!o->target.cgroup;

	if (!err && nr_targets > 1)
		return options_refuse("mutually exclusive options:", "--job, --pid, --cgroup");
	if (!err && nr_targets && o->common.words && *o->common.words)
		return options_refuse("--job, --pid and --cgroup cannot be combined with",
				      *o->common.words);
	return err;
}

const struct subcommand subcommand_top = {
	.name = "top",
	.summary = "watch the processes of a run",
	.part = PART_READS,
	.words = { .most = 1, .offer = completion_offer_runs },
	.run = cmd_top,
	.groups = top_groups,
	.options_bytes = sizeof(struct top_options),
	.parse = top_parse,
	.help = top_help,
};
