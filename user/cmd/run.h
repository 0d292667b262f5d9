/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a run. */
#ifndef CMD_RUN_H
#define CMD_RUN_H

#include "cmd/recording_options.h"
#include "launch/intake.h"

struct run_options {
	struct common_options common; /* its words: the command */
	struct recording_options recording;
	bool wait_tree, own_cgroup;
	bool span_samples;          /* what each span has used, at each sample */
	struct intake_options push; /* what programs may push */
	bool switch_user;
	const char *user; /* NULL with switch_user: the one that called sudo */
};

#endif
