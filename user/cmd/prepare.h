/* SPDX-License-Identifier: BSD-2-Clause */
/* What running and attaching have in common: from options to what the roles are to do. */
#ifndef CMD_PREPARE_H
#define CMD_PREPARE_H

#include "cmd/options.h"
#include "launch/launcher.h"

/*
 * Parses the options, and answers --help (by @help) and --version. 1: go on; 0: that was all; else
 * a negative errno after one line to the user.
 */
int options_begin(struct options *o, enum option_scope scope, int argc, char **argv,
		  void (*help)(void));
/* Under sudo the caller owns what is recorded, unless the options say otherwise. True: under sudo.
 */
bool recorder_choose(const struct options *o, struct user *caller, struct launch_options *l);
/* The home directory that the user's stores are in, or root's where @as_root. */
const char *user_home(const struct user *caller, bool as_root);
/* The file of the user's own store, or root's where @as_root, in memory that stays. */
const char *user_store(const struct user *caller, const char *host, bool as_root);
/* Fills in @l and @run, which must live as long as @l. */
void launch_prepare(struct launch_options *l, const struct options *o, const struct user *caller,
		    struct run *run);

#endif
