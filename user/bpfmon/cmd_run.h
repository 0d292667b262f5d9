/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a run. */
#ifndef BPFMON_CMD_RUN_H
#define BPFMON_CMD_RUN_H

#include "bpfmon/recording_options.h"
#include "bpfmon/roles/intake.h"
#include "run/limit.h"

/* Limits as they are written: [process.|span.]KEY<VALUE, as in rss<2GiB, process.cpu<1h. */
struct limit_texts {
	const char *text[MAX_LIMITS]; /* not owned */
	bool is_soft[MAX_LIMITS];
	unsigned nr;
};

struct run_options {
	struct common_options common; /* its words: the command */
	struct recording_options recording;
	bool wait_tree, own_cgroup;
	bool span_samples;          /* what each span has used, at each sample */
	struct intake_options push; /* what programs may push */
	bool switch_user;
	struct limit_texts limits;
	struct limit limit[MAX_LIMITS]; /* what these mean */
	uint64_t limit_grace_ns;
	bool has_limit_grace;
	const char *on_limit; /* NULL: nothing is executed */
	const char *user;     /* NULL with switch_user: the one that called sudo */
};

#endif
