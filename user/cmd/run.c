// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon [OPTIONS] -- COMMAND: runs it and accounts for it. */
#include "cmd/cmd.h"
#include "cmd/options.h"

#include "base/log.h"
#include "launch/launcher.h"
#include "view/summary_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The collector shows the summary when the recorder is gone. */
static void show_on_stderr(const struct summary *s, void *context)
{
	char *text = summary_text(s);
	ssize_t n = text ? write(STDERR_FILENO, text, strlen(text)) : 0;

	(void)context;
	(void)n; /* there is nobody left to tell */
	free(text);
}

static int choose_users(const struct options *o, struct user *caller, struct user *run_as,
			struct launch_options *l)
{
	bool was_sudo;

	user_caller(caller, &was_sudo);
	if (was_sudo && !o->record_as_root)
		l->record_as = caller;
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

static void describe(struct run *run, const struct options *o, const struct user *caller)
{
	run_describe(run);
	run->command = o->no_args ? NULL : o->command;
	snprintf(run->user, sizeof(run->user), "%s", caller->name);
	run->uid = caller->uid;
	run->interval_ns = o->interval_ns;
	run->wanted = o->wanted;
}

int cmd_run(int argc, char **argv)
{
	struct launch_options l = { 0 };
	struct user caller, run_as;
	struct options o;
	struct run run = { 0 };

	if (options_parse(&o, argc, argv))
		return EXIT_BPFMON;
	if (o.help) {
		options_help();
		return 0;
	}
	if (o.version) {
		puts("bpfmon " BPFMON_VERSION);
		return 0;
	}
	log_set_level(o.verbose ? LOG_VERBOSE : LOG_NORMAL);
	if (choose_users(&o, &caller, &run_as, &l))
		return EXIT_BPFMON;
	describe(&run, &o, &caller);
	l.argv = o.command;
	l.own_cgroup = o.own_cgroup;
	l.collector.run = &run;
	l.collector.wait_tree = o.wait_tree;
	l.collector.show = o.quiet ? NULL : show_on_stderr;
	l.collector.tracker.wanted = o.wanted;
	l.collector.tracker.no_args = o.no_args;
	l.collector.tracker.verbose = o.verbose;
	l.collector.tracker.max_tasks = o.max_tasks;
	l.collector.tracker.exact_peak = o.exact_peak;
	l.collector.tracker.inject_misses = o.inject_misses;
	memcpy(l.recorder.outputs, o.outputs, sizeof(o.outputs));
	l.recorder.nr_outputs = o.nr_outputs;
	l.recorder.outputs_are_defaults = o.outputs_are_defaults;
	l.recorder.force = o.force;
	l.recorder.quiet = o.quiet;
	l.recorder.as_user = l.record_as ? caller.name : NULL;
	return launch(&l);
}
