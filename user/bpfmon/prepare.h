/* SPDX-License-Identifier: BSD-2-Clause */
/* From the options of a run or an attachment to the options of the roles. */
#ifndef BPFMON_PREPARE_H
#define BPFMON_PREPARE_H

#include "bpfmon/cmd_attach.h"
#include "bpfmon/cmd_run.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/roles/launcher.h"

/*
 * options_begin() of run or attach; @r is the recording in @options. It fails as well, after one
 * line to the user, if /proc is not that of our PID namespace.
 */
int launch_begin(const struct subcommand *sub, void *options, const struct recording_options *r,
		 int argc, char **argv);
/* Finds the caller, as whom the recorder runs under sudo, unless --record-as root was given. True:
 * under sudo. */
bool recorder_choose(const struct recording_options *o, struct user *caller,
		     struct launch_options *l);
/* Fills in @l and @run, which must live as long as @l. */
void launch_prepare(struct launch_options *l, const struct recording_options *o,
		    const struct user *caller, struct run *run);

/*
 * Connects l->agent_fd to the agent, if @o asks for it, or if this process may not load programs
 * and there is an agent; else it is -1. @needs_root: an option that an agent does not offer, such
 * as "--own-cgroup"; NULL: none was given. @may_fall_back: where neither may be used, @l gets what
 * @o wants then: a collector that reads /proc, or nothing measured. A negative errno after one line
 * to the user.
 */
int agent_choose(struct launch_options *l, const struct recording_options *o,
		 const char *needs_root, bool may_fall_back);

/*
 * File capabilities lend rights to every user who may execute the file: they are for the processes
 * of that user only, and not for what slows down those of others.
 *
 * 0: the rights are the caller's own (root, sudo, ambient capabilities), or what is asked for may
 * be done with lent ones. -EPERM after one line to the user.
 */
int lent_rights_check_run(const struct run_options *o);
/* The same, of the options; */
int lent_rights_check_attach(const struct attach_options *o);
/* and of the processes that @o names, which were there just now. */
int lent_rights_check_processes(const struct attach_options *o);

#endif
