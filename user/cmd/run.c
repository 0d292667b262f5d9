// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon [OPTIONS] -- COMMAND: runs it and accounts for it. */
#include "cmd/cmd.h"
#include "cmd/prepare.h"

#include "base/log.h"
#include "base/memory.h"
#include "launch/launcher.h"
#include "meta/scheduler.h"

#include <stdio.h>

static void run_help(void)
{
	puts("Usage: bpfmon [OPTIONS] -- COMMAND [ARG...]\n"
	     "       bpfmon attach     follow what runs already (bpfmon attach --help)\n"
	     "       bpfmon mark       begin a phase, from inside the command (with --marks)\n\n"
	     "       bpfmon list       the runs that were kept\n"
	     "       bpfmon show       one of them again\n"
	     "       bpfmon report     one as a page for a browser\n"
	     "       bpfmon compare    runs against each other\n"
	     "       bpfmon export     one for other programs\n"
	     "       bpfmon store      their store: size, prune, check, merge\n\n"
	     "       bpfmon check      what this machine offers\n"
	     "       bpfmon metrics    what is measured\n\n"
	     "Runs COMMAND and accounts for every process it causes to exist.\n");
	options_help(FOR_RUN);
	puts("Exit status: the command's; 125 bpfmon failed, 126 not executable, 127 not found.");
}

static int users_choose(const struct options *o, struct user *caller, struct user *run_as,
			struct launch_options *l)
{
	bool was_sudo = recorder_choose(o, caller, l);

	if (!o->switch_user)
		return 0;
	if (!o->user && !was_sudo) {
		log_error("--user without a name is for a run under sudo; name the user");
		return -1;
	}
	if (!o->user) {
		*run_as = *caller;
	} else if (user_by_name(o->user, run_as)) {
		log_error("there is no user '%s' to run the command as", o->user);
		return -1;
	}
	l->run_as = run_as;
	return 0;
}

int cmd_run(int argc, char **argv)
{
	static struct user caller, run_as; /* static: large for a stack */
	static struct options o;
	struct launch_options l = { 0 };
	struct run run = { 0 };
	int go_on = options_begin(&o, FOR_RUN, argc, argv, run_help);

	if (go_on <= 0)
		return go_on ? EXIT_BPFMON : 0;
	if (users_choose(&o, &caller, &run_as, &l))
		return EXIT_BPFMON;
	launch_prepare(&l, &o, &caller, &run);
	if (!run.job)
		run.job = scheduler_job();
	run.command = o.no_args ? NULL : o.command;
	l.argv = o.command;
	l.own_cgroup = o.own_cgroup;
	l.push = o.push;
	l.collector.wait_tree = o.wait_tree;
	if (memory_was_short()) {
		log_error("out of memory before the command was run");
		return EXIT_BPFMON;
	}
	return launch(&l);
}
