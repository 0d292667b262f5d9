/* SPDX-License-Identifier: BSD-2-Clause */
/* Converts the options of `run` or `attach` into the options of the roles. */
#ifndef BPFMON_PREPARE_H
#define BPFMON_PREPARE_H

#include "bpfmon/recording_options.h"
#include "bpfmon/roles/launcher.h"

/*
 * Does options_begin() for `run` or `attach`; @r is the recording in @options. Also fails, after a
 * message to the user, if /proc is not that of bpfmon's PID namespace.
 */
int launch_begin(const struct subcommand *sub, void *options, const struct recording_options *r,
		 int argc, char **argv);
/*
 * Finds the calling user; under sudo, the recorder runs as that user unless --record-as root is
 * given. Returns true under sudo.
 */
bool recorder_choose_user(const struct recording_options *o, struct user *caller,
			  struct launch_options *l);
/* Fills in @l and @run. @run must live as long as @l. */
void launch_prepare(struct launch_options *l, const struct recording_options *o,
		    const struct user *caller, struct run *run);

/*
 * Connects l->agent_fd to the agent if @o requests it, or if this process may not load BPF programs
 * and there is an agent; else sets it to -1. @needs_root: an option that an agent does not support,
 * such as "--own-cgroup", or NULL. With @may_fall_back, where neither is available, sets up @l as
 * @o requests for that case: a collector that reads /proc, or no measurement. Returns 0, or a
 * negative errno after a message to the user.
 */
int agent_choose(struct launch_options *l, const struct recording_options *o,
		 const char *needs_root, bool may_fall_back);

/*
 * Restricts lent rights. File capabilities lend rights to every user who may execute the file:
 * these are for processes of that user only, and for nothing that slows down other users'
 * processes.
 *
 * Returns 0 if the rights are the caller's own (root, sudo, ambient capabilities) or lent rights
 * suffice, or -EPERM after a message to the user.
 */
int lent_rights_check_run(const struct run_options *o);
/* Same for the options of an attachment. */
int lent_rights_check_attach(const struct attach_options *o);
/* Same for the processes that @o names, which existed a moment ago. */
int lent_rights_check_processes(const struct attach_options *o);

#endif
