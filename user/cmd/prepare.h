/* SPDX-License-Identifier: BSD-2-Clause */
/* From the options of a run or an attachment to the options of the roles. */
#ifndef CMD_PREPARE_H
#define CMD_PREPARE_H

#include "cmd/recording_options.h"
#include "launch/launcher.h"

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
/* The home directory that the user's stores are in, or root's where @as_root. */
const char *user_home(const struct user *caller, bool as_root);
/* The file of the user's own store, or root's where @as_root, in memory that stays. */
const char *user_store(const struct user *caller, const char *host, bool as_root);
/* Fills in @l and @run, which must live as long as @l. */
void launch_prepare(struct launch_options *l, const struct recording_options *o,
		    const struct user *caller, struct run *run);

#endif
