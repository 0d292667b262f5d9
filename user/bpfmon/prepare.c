// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/prepare.h"

#include "base/agent_socket.h"
#include "base/cleanup.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/procstat.h"
#include "base/user.h"
#include "measure/capability.h"
#include "store/stores.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int launch_begin(const struct subcommand *sub, void *options, const struct recording_options *r,
		 int argc, char **argv)
{
	int go_on = options_begin(sub, options, argc, argv);

	if (go_on <= 0)
		return go_on;
	log_set_level(r->verbose ? LOG_VERBOSE : LOG_NORMAL);
	if (procstat_is_own_namespace())
		return 1;
	log_error("/proc is not mounted, or belongs to another PID namespace; try: mount -t proc "
		  "proc /proc");
	return -1;
}

bool recorder_choose_user(const struct recording_options *o, struct user *caller,
			  struct launch_options *l)
{
	bool was_sudo;

	user_find_caller(caller, &was_sudo);
	if (was_sudo)
		l->caller = caller;
	if (was_sudo && !o->record_as_root)
		l->record_as = caller;
	return was_sudo;
}

static void run_fill_in(struct run *run, const struct recording_options *o,
			const struct user *caller)
{
	run_describe(run);
	snprintf(run->user, sizeof(run->user), "%s", caller->name);
	run->uid = caller->uid;
	run->name = o->name;
	run->job = o->job;
	run->note = o->note;
	memcpy(run->tags, o->tags.list, sizeof(o->tags.list));
	run->nr_tags = o->tags.nr;
}

/* Returns NULL if the run is not to be stored. */
static const char *store_choose(const struct recording_options *o, const struct user *caller,
				const char *host)
{
	if (o->store.is_off)
		return NULL;
	return o->store.path ? o->store.path : user_store(caller, host, o->record_as_root);
}

static void asked_fill(struct asked_options *asked, const struct recording_options *o)
{
	if (o->net_peers)
		asked_add(asked, "--net-peers", "--net");
	else if (o->net)
		asked_add(asked, "--net", "--net");
	if (o->io_kinds)
		asked_add(asked, "--io-kinds", "--io-kinds");
	if (o->pss_is_asked)
		asked_add(asked, "--pss", "--pss");
	if (o->block_io)
		asked_add(asked, "--block-io", "--block-io");
}

void launch_prepare(struct launch_options *l, const struct recording_options *o,
		    const struct user *caller, struct run *run)
{
	struct collector_options *c = &l->collector;
	struct request *q = &l->request;
	struct recorder_options *r = &l->recorder;

	run_fill_in(run, o, caller);
	l->run = run;
	request_init(q);
	q->wanted = o->wanted;
	q->interval_ns = o->interval_ns;
	q->process_samples = o->process_samples;
	q->stalled_after_ns = o->stalled_after_ns;
	q->stalled_below_ppm = o->stalled_below_ppm;
	q->pss_ppm = o->pss_ppm;
	q->exact_peak = o->exact_peak;
	q->net_peers = o->net_peers;
	q->no_args = o->no_args;
	q->hides_others = user_borrows_rights();
	q->shown_to = caller->uid;
	c->verbose = o->verbose;
	c->max_tasks = o->max_tasks;
	c->inject_misses = o->inject_misses;
	c->inject_free_misses = o->inject_free_misses;
	c->slow_pss_ms = o->slow_pss_ms;
	c->refusals = o->refusals;
	memcpy(r->outputs, o->outputs, sizeof(o->outputs));
	r->nr_outputs = o->nr_outputs;
	r->outputs_are_defaults = o->outputs_are_defaults;
	r->force = o->force;
	r->on_stall = (struct event_command){ "on-stall", "BPFMON_STALL_REASON", o->on_stall, -1 };
	r->on_limit = (struct event_command){ "on-limit", "BPFMON_LIMIT", NULL, -1 };
	r->store = store_choose(o, caller, run->host);
	r->quiet = o->quiet;
	r->summary = o->summary;
	r->live = o->live;
	r->template = o->template;
	r->as_user = l->record_as ? caller->name : NULL;
	asked_fill(&r->asked, o);
}

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
	"%s, or start the agent, which measures for all users of this machine: systemctl enable "  \
	"--now bpfmon-agent"

/*
 * Connects to the agent at the default socket, without rights of its own. On failure, @why is the
 * reason.
 */
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

/*
 * Handles the absence of BPF and agent as the options say. @err is that of the agent: it does not
 * exist, or has not answered. Returns 0 if the run continues without them.
 */
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
		log_warn("running the command without measuring it: %s", why);
	else if (err == -ETIMEDOUT)
		log_warn("measuring from /proc instead: %s", why);
	else
		log_info("measuring from /proc: %s", why);
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
		l->collector.source =
			may_fall_back && o->if_unavailable == USE_PROCFS ? FROM_BPF_OR_PROC
			: may_fall_back && o->if_unavailable == RUN_BARE ? FROM_BPF_OR_NONE
									 : FROM_BPF;
		return 0;
	}
	l->agent_fd = o->agent ? agent_connect_named(o->agent)
			       : agent_connect_usual(needs, why, sizeof(why));
	if (l->agent_fd < 0 && !o->agent && may_fall_back && !needs_root)
		return unavailable_handle(l, o, l->agent_fd, why);
	if (l->agent_fd < 0 && !o->agent && needs_root)
		log_error("%s (required for %s)", why, needs_root);
	else if (l->agent_fd < 0 && !o->agent)
		log_error("%s", why);
	if (l->agent_fd < 0)
		return l->agent_fd;
	if (!option)
		return 0;
	log_error("%s is not available from the agent at %s; use sudo", option,
		  o->agent ? o->agent : AGENT_SOCKET);
	return -EPERM;
}

/*
 * The buckets of the kernel's maps take memory that no limit of a user's processes counts: 4 MiB.
 */
#define MAX_TASKS_LENT (1U << 17)

/* Returns why an option is permitted for root only, or NULL. */
static const char *recording_find_refused(const struct recording_options *r)
{
	if (r->exact_peak)
		return "--exact-peak needs root, because it slows down all processes of the "
		       "machine; use sudo, or omit it and get a range for the peak";
	if (r->max_tasks > MAX_TASKS_LENT)
		return "--max-tasks above 131072 needs root, because it uses kernel memory; use "
		       "sudo, or a smaller number";
	if (r->record_as_root)
		return "--record-as root needs root, because it writes files as root; use sudo, or "
		       "omit it to own the files yourself";
	return NULL;
}

static int lent_rights_refuse(const char *what)
{
	if (what)
		log_error("%s", what);
	return what ? -EPERM : 0;
}

int lent_rights_check_run(const struct run_options *o)
{
	if (!user_borrows_rights())
		return 0;
	if (o->switch_user)
		return lent_rights_refuse(
			"--user needs root, because it changes the user of the command; use sudo, "
			"or omit it to run the command as yourself");
	return lent_rights_refuse(recording_find_refused(&o->recording));
}

/*
 * The collector tracks the process that is checked here: it rejects one born after the names were
 * read, which has a reused PID.
 */
static int lent_rights_check_process(pid_t pid)
{
	__cleanup(closep) int fd = pidfd_make(pid);
	char why[512];
	int err = fd < 0 ? fd : process_check_owner(fd, getuid(), getgid(), why, sizeof(why));

	if (fd < 0)
		log_error("cannot open process %d: %s", pid, strerror(-fd));
	else if (err == -ESRCH)
		log_error("process %d has just ended", pid);
	else if (err)
		log_error(
			"without root, you can attach only to your own processes, and %s; use sudo",
			why);
	return err ? -EPERM : 0;
}

int lent_rights_check_attach(const struct attach_options *o)
{
	const char *what = o->cgroup ? "--cgroup" : o->container ? "--container" : NULL;

	if (!user_borrows_rights())
		return 0;
	if (!what)
		return lent_rights_refuse(recording_find_refused(&o->recording));
	log_error("%s needs root, because other users may have processes there; use sudo, or "
		  "attach to your own processes with --pid",
		  what);
	return -EPERM;
}

int lent_rights_check_processes(const struct attach_options *o)
{
	int err = 0;

	for (size_t i = 0; !err && user_borrows_rights() && i < o->nr_pids; i++)
		err = lent_rights_check_process(o->pids[i]);
	return err;
}
