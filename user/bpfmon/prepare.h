/* SPDX-License-Identifier: BSD-2-Clause */
/* From the options of a run or an attachment to the options of the roles. */
#ifndef BPFMON_PREPARE_H
#define BPFMON_PREPARE_H

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

#endif
