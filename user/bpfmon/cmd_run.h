/* SPDX-License-Identifier: BSD-2-Clause */
/* Options of `bpfmon run`. */
#ifndef BPFMON_CMD_RUN_H
#define BPFMON_CMD_RUN_H

#include "bpfmon/recording_options.h"
#include "bpfmon/roles/intake.h"
#include "run/limit.h"

/* Limits as typed: [process.|span.]KEY<VALUE, as in rss<2GiB or process.cpu<1h. */
struct limit_texts {
	const char *text[MAX_LIMITS]; /* not owned */
	bool is_soft[MAX_LIMITS];
	unsigned nr;
};

struct run_options {
	struct common_options common; /* common.words: the command */
	struct recording_options recording;
	bool wait_tree, own_cgroup;
	bool span_samples;          /* record the usage of each span at each sample */
	struct intake_options push; /* what programs may push */
	bool switch_user;
	struct limit_texts limits;
	struct limit limit[MAX_LIMITS]; /* the parsed limits */
	uint64_t limit_grace_ns;
	bool has_limit_grace;
	const char *on_limit; /* NULL: no command */
	const char *user;     /* NULL if switch_user: the user who called sudo */
};

#endif
