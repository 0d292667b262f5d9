// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon attach [OPTIONS] --pid PID | --cgroup PATH: accounts for processes that are already
 * running, without changing them.
 */
#include "bpfmon/recording_options.h"

#include "base/agent_socket.h"
#include "base/cgroup.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/fd.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/procstat.h"
#include "base/user.h"
#include "bpfmon/prepare.h"
#include "bpfmon/roles/container.h"
#include "bpfmon/roles/job_request.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/roles/limit_end.h"
#include "bpfmon/roles/roles.h"
#include "bpfmon/subcommands.h"
#include "options/option_values.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int pid_parse(void *options, const char *text)
{
	struct attach_options *o = options;
	int err = o->nr_pids == MAX_TARGETS ? value_refuse("at most %d processes", MAX_TARGETS)
					    : process_parse(text, &o->pids[o->nr_pids]);

	o->nr_pids += !err;
	return err;
}

/* clang-format off */
#define AT(field) offsetof(struct attach_options, field)

static const struct option_row attach_rows[] = {
	{ "pid", 'p', "PID", false, "Attach to this process and its descendants; may be repeated", pid_parse, 0, GUARD_ENVIRONMENT },
	{ "cgroup", 0, "PATH", false, "Attach to this cgroup: its present and future processes", text_parse, AT(cgroup), GUARD_ENVIRONMENT },
	{ "container", 0, "NAME", false, "Attach to this container: its name or ID, or ENGINE:NAME", text_parse, AT(container), GUARD_ENVIRONMENT },
	{ "wait-start", 0, NULL, false, "If the cgroup is empty, wait for its first process", flag_parse, AT(wait_start), GUARD_NONE },
	{ "duration", 0, "TIME", false, "Detach after this time, as in 60, 0.5 or 100ms", duration_parse, AT(duration_ns), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group attach_groups[] = {
	RECORDING_GROUPS(struct attach_options),
	{ rights_rows, AT(recording), true },
	{ attach_rows, 0, true },
	{ tracking_rows, AT(recording), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int targets_count(const struct attach_options *o)
{
	return (o->nr_pids > 0) + (o->cgroup != NULL) + (o->container != NULL);
}

static int targets_check_kinds(const struct attach_options *o)
{
	int kinds = targets_count(o);
	const char *what = NULL;

	if (!kinds && !o->recording.job)
		what = "no target given; try: bpfmon attach --pid PID";
	else if (kinds > 1)
		what = "--pid, --cgroup and --container are mutually exclusive";
	else if (o->wait_start && !o->cgroup)
		what = "--wait-start needs --cgroup";
	if (what)
		log_error("%s", what);
	return what ? -EINVAL : 0;
}

/* Reports a word: a target without its option, or a command, which attach does not run. */
static int attach_check_words(const struct attach_options *o)
{
	const char *word = o->common.words[0];

	if (!word)
		return 0;
	if (o->common.is_after_dashes)
		log_error("attach measures running processes; to run a command: bpfmon -- %s",
			  word);
	else if (!word[strspn(word, "0123456789")])
		log_error("unexpected argument '%s'; to attach to that process: bpfmon attach "
			  "--pid %s",
			  word, word);
	else
		log_error("unexpected argument '%s'; give the target with --pid, --cgroup, "
			  "--container or --job",
			  word);
	return -EINVAL;
}

static void attach_help(void)
{
	puts("Usage: bpfmon attach [OPTIONS] --pid PID\n"
	     "       bpfmon attach [OPTIONS] --cgroup PATH | --container NAME\n"
	     "       bpfmon attach [OPTIONS] --job ID\n"
	     "\n"
	     "Measures a running process and its present and future descendants until all of them\n"
	     "have ended, or the processes of a cgroup (or of a container's cgroup) and of those\n"
	     "below it until the cgroup is removed. --duration or Ctrl-C ends it earlier. "
	     "Resources\n"
	     "used before the attachment do not count. --job without a target names a job of this\n"
	     "node, as listed by bpfmon jobs. It needs the agent, and counts from the start of "
	     "the\n"
	     "job.\n"
	     "\n"
	     "Without BPF and agent, --pid measures your own processes from /proc, and the "
	     "figures\n"
	     "are lower bounds. --cgroup and --container need BPF.\n");
	options_print(&subcommand_attach);
	recording_print_variables();
	puts("Exit status: 0: success, 2: usage error, target not found, or not permitted.");
}

static int attach_check_pids(const struct attach_options *o)
{
	for (size_t i = 0; i < o->nr_pids; i++) {
		pid_t leader;

		if (procstat_read_leader(o->pids[i], &leader)) {
			log_error("no process %d to attach to", o->pids[i]);
			return -1;
		}
		if (leader != o->pids[i]) {
			log_error("%d is a thread of process %d; attach to the process", o->pids[i],
				  leader);
			return -1;
		}
	}
	return 0;
}

/* Without BPF: /proc shows the I/O of a process only to users who may trace it. */
static int attach_check_readable(const struct attach_options *o)
{
	struct proc_io io;
	char why[512];

	for (size_t i = 0; i < o->nr_pids; i++) {
		__cleanup(closep) int fd = -1;
		int err = proc_io_read(o->pids[i], &io);

		if (err != -EACCES && err != -EPERM)
			continue;
		fd = pidfd_make(o->pids[i]);
		if (fd < 0 || !process_check_owner(fd, getuid(), getgid(), why, sizeof(why)))
			snprintf(why, sizeof(why), "cannot read process %d", o->pids[i]);
		log_error(
			"without BPF, you can attach only to your own processes, and %s; use sudo",
			why);
		return -EPERM;
	}
	return 0;
}

struct answer {
	int err;
	struct cgroup_target target;
	char why[1024];
};

/*
 * In the child: becomes @user and looks up the cgroup @name (NULL: reads its parent's command
 * line).
 */
static void as_user_child_answer(const struct user *user, const char *name, struct answer *a)
{
	char path[64];

	a->err = user_become(user);
	if (a->err) {
		snprintf(a->why, sizeof(a->why), "cannot become user %s: %s", user->name,
			 strerror(-a->err));
	} else if (name) {
		a->err = cgroup_target_find("/proc/self", name, &a->target, a->why, sizeof(a->why));
	} else {
		__cleanup(closep) int fd = -1;

		snprintf(path, sizeof(path), "/proc/%d/cmdline", getppid());
		fd = open(path, O_RDONLY | O_CLOEXEC);
		a->err = fd < 0 ? -errno : 0;
	}
}

static int as_user_query(const struct user *user, const char *name, struct answer *a)
{
	int ends[2], status;
	bool has_all;
	pid_t child;

	memset(a, 0, sizeof(*a));
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	child = fork();
	if (!child) {
		as_user_child_answer(user, name, a);
		_exit(bytes_transfer(ends[1], a, sizeof(struct answer), false) ? 0 : 1);
	}
	close(ends[1]);
	has_all = child > 0 && bytes_transfer(ends[0], a, sizeof(struct answer), true);
	close(ends[0]);
	while (child > 0 && waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return has_all ? a->err : -EIO;
}

/*
 * Does cgroup_target_find() with the rights of @user: a path that the user cannot enter does not
 * exist, and the sentence is the same. Needs root. Also returns -EIO if the child was killed.
 */
static int as_user_find_cgroup(const struct user *user, const char *name, struct cgroup_target *t,
			       char *why, size_t size)
{
	struct answer a;
	int err = as_user_query(user, name, &a);

	*t = a.target;
	snprintf(why, size, "%s",
		 !err || a.why[0] ? a.why : "cannot find the cgroup: the helper process failed");
	return err;
}

/*
 * @caller is the user who called sudo: the cgroup is looked up with that user's rights, so that no
 * other file is disclosed. NULL: with bpfmon's rights.
 */
static int attach_check_cgroup(const struct attach_options *o, const struct user *caller,
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
	log_error("cgroup '%s' is empty; use --wait-start to wait for its first process",
		  t->cg.path);
	return -1;
}

/*
 * Attaches to the cgroup of the container; without one, to its first process and its descendants.
 */
static int attach_check_container(struct attach_options *o, const struct user *caller,
				  struct container *c, char folder[4096])
{
	char why[1024] = "";

	if (container_find(o->container, caller, c, why, sizeof(why))) {
		log_error("%s", why);
		return -1;
	}
	if (!container_find_cgroup("/proc", c, folder)) {
		o->cgroup = folder;
		return 0;
	}
	log_warn("the container has no cgroup of its own: measuring its first process %d and the "
		 "descendants of that, but not what %s executes in it later",
		 c->pid, c->engine);
	o->pids[0] = c->pid;
	o->nr_pids = 1;
	return 0;
}

/*
 * Returns true if /proc shows @user the command lines of other users, such as this process of root:
 * not if it is mounted with hidepid and @user is not in its group, nor after an error.
 */
static bool as_user_sees_others(const struct user *user)
{
	struct answer a;

	return !as_user_query(user, NULL, &a);
}

static void attachment_reap(struct roles *roles)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		roles_note_end(roles, pid, status);
}

static void attachment_handle_request(struct roles *roles, struct end_requests *r,
				      const struct signalfd_siginfo *si)
{
	if (!end_request_count(r, si))
		return;
	if (r->nr == 1)
		role_send(&roles->collector, CONTROL_STOP, 0, 0);
	else if (r->nr == REQUESTS_THAT_END - 1)
		roles_report_awaited(roles);
}

static bool attachment_is_over(const struct roles *roles, const struct end_requests *r)
{
	if (r->nr >= REQUESTS_THAT_END || roles->agent.hangs)
		return true;
	return !roles->collector.pid && !roles->recorder.pid &&
	       last_summary_is_shown(&roles->summary);
}

static void attachment_attend(struct roles *roles, struct end_requests *r, int signal_fd)
{
	const int of_signals_ms = signals_read_all(signal_fd);
	const int wait_ms = roles->collector.is_remote ? AGENT_LOOK_MS : of_signals_ms;
	struct signalfd_siginfo si;

	while (!attachment_is_over(roles, r)) {
		last_summary_wait(&roles->summary, signal_fd, roles->line.fd, wait_ms);
		while (read(signal_fd, &si, sizeof(si)) == sizeof(si))
			if (end_request_matches(&si))
				attachment_handle_request(roles, r, &si);
		attachment_reap(roles);
		/* the collector may have sent it just before its end */
		last_summary_advance(&roles->summary);
		status_line_advance(&roles->line);
		roles_watch_agent(roles);
	}
	roles_stop(roles, ROLES_GRACE_MS);
}

/*
 * Does all that precedes the start message. Returns 0 or a negative errno; *@sig is the signal that
 * ended it, or 0.
 */
static int attachment_start(struct roles *roles, struct launch_options *o, int *signal_fd, int *sig)
{
	struct spawn none = { .go_fd = -1, .status_fd = -1 };
	struct description description;
	sigset_t mask;
	int err;

	*signal_fd = signals_open(&mask);
	streams_unblock();
	err = *signal_fd < 0 ? -errno : roles_fork(roles, o, &none, *signal_fd, &mask);
	if (err) {
		log_error("cannot start the collector and the recorder: %s", strerror(-err));
		return err;
	}
	err = job_request_send(roles, o, 0);
	if (err)
		return err;
	description_begin(&description, o);
	description_fill(&description, o);
	launcher_drop_rights();
	err = memory_has_failed() ? -ENOMEM : roles_wait_until_ready(roles, 0, *signal_fd, sig);
	if (err)
		description_cancel(&description);
	else
		description_send(&description, roles, o->run);
	return err;
}

/*
 * Records until the collector finds that the run is over, or a signal requests the end. Returns 0,
 * or a negative errno after a message.
 */
static int attachment_run(struct launch_options *o)
{
	struct sigaction children = { .sa_handler = SIG_DFL };
	struct end_requests requests = { 0 };
	/* too large for the stack */
	static struct roles roles = { .collector.control_fd = -1, .recorder.control_fd = -1 };
	struct intake_sockets intake; /* only spans, for programs that observe the run */
	int signal_fd, err, sig = 0;

	sigaction(SIGCHLD, &children, NULL);
	err = intake_open(&intake, &(struct intake_options){ 0 }, o->run_as, o->agent_fd >= 0);
	if (err)
		return err;
	o->intake = &intake;
	err = attachment_start(&roles, o, &signal_fd, &sig);
	if (err) {
		roles_stop(&roles, ROLES_UNNEEDED_GRACE_MS);
	} else {
		role_send(&roles.collector, CONTROL_START, 0, 0);
		attachment_attend(&roles, &requests, signal_fd);
		sig = requests.nr >= REQUESTS_THAT_END ? requests.signal : 0;
		err = roles.agent.hangs ? -ETIMEDOUT : 0;
	}
	intake_remove(&intake);
	o->intake = NULL;
	if (sig)
		signals_die(sig);
	return err;
}

static int cmd_attach(int argc, char **argv)
{
	uint64_t named_boot_ns = clock_ns(CLOCK_BOOTTIME);
	static struct cgroup_target target; /* too large for the stack */
	static struct container container;
	static struct user caller;
	static struct attach_options o;
	static char folder[4096];
	static struct launch_options l;
	struct run run = { 0 };
	bool may_fall_back;
	int go_on = launch_begin(&subcommand_attach, &o, &o.recording, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	recorder_choose_user(&o.recording, &caller, &l);
	/* only an agent knows the jobs of the node, for root as well */
	if (!targets_count(&o) && !o.recording.agent)
		o.recording.agent = AGENT_SOCKET;
	if (lent_rights_check_attach(&o))
		return EXIT_USAGE;
	/* /proc cannot show which cgroups appear later; and there is no command to run bare */
	may_fall_back = o.nr_pids && o.recording.if_unavailable != RUN_BARE;
	if (agent_choose(&l, &o.recording,
			 o.cgroup      ? "--cgroup"
			 : o.container ? "--container"
				       : NULL,
			 may_fall_back))
		return EXIT_USAGE;
	if (o.container && attach_check_container(&o, &caller, &container, folder))
		return EXIT_USAGE;
	/* the caller did not name the folder of a container */
	if (o.cgroup ? attach_check_cgroup(&o, o.container ? NULL : l.caller, &target)
		     : attach_check_pids(&o) || lent_rights_check_processes(&o))
		return EXIT_USAGE;
	if (l.collector.source == FROM_PROC && attach_check_readable(&o))
		return EXIT_USAGE;
	launch_prepare(&l, &o.recording, &caller, &run);
	run.container = o.container ? container.id : NULL;
	run.engine = o.container ? container.engine : NULL;
	l.targets = o.pids;
	l.nr_targets = o.nr_pids;
	l.target = o.cgroup ? &target : NULL;
	l.target_job = targets_count(&o) ? NULL : o.recording.job;
	l.request.named_boot_ns = named_boot_ns;
	l.request.hides_others |= l.caller && !as_user_sees_others(l.caller);
	l.request.duration_ns = o.duration_ns;
	l.request.wait_start = o.wait_start;
	return attachment_run(&l) ? EXIT_USAGE : 0;
}

static int attach_parse(void *options, int argc, char **argv)
{
	struct attach_options *o = options;
	int err = recording_parse(&subcommand_attach, o, &o->recording, argc, argv);

	if (err || !o->common.words)
		return err;
	if (attach_check_words(o) || targets_check_kinds(o))
		return -EINVAL;
	return recording_resolve(&o->recording, o->cgroup || o->container);
}

const struct subcommand subcommand_attach = {
	.name = "attach",
	.summary = "measure processes that are already running",
	.part = PART_RECORDS,
	.loads_programs = true,
	.is_role = true,
	.ends_at_word = true,
	.words = { .most = ANY_WORDS },
	.run = cmd_attach,
	.groups = attach_groups,
	.options_bytes = sizeof(struct attach_options),
	.parse = attach_parse,
	.help = attach_help,
};
