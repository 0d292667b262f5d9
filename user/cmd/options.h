/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a run: one table feeds parser, environment, help, manual and completion. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "model/metric.h"
#include "record/recorder.h"

#define MAX_OPTIONS 32

struct options {
	uint64_t interval_ns;
	struct recorder_output outputs[MAX_OUTPUTS];
	const char *output_text[MAX_OUTPUTS]; /* as given, resolved when all options are known */
	size_t nr_outputs;
	bool outputs_are_defaults; /* of the environment */
	const char *format;        /* of outputs that name none */
	struct metric_set wanted;
	bool quiet, verbose, force, no_args, exact_peak, wait_tree, record_as_root;
	bool own_cgroup;
	bool chooses_metrics; /* --metrics */
	bool switch_user;
	const char *user; /* NULL with switch_user: who called sudo */
	unsigned max_tasks, inject_misses;
	bool help, version;
	char **command; /* NULL-terminated, not empty; NULL with help or version */
};

/* 0; or -EINVAL, after one line to the user. */
int options_parse(struct options *o, int argc, char **argv);
void options_help(void);

/* A row of the table, for what is generated from it. */
struct option_row {
	const char *name;     /* long, without dashes */
	char key;             /* short; 0: none */
	const char *argument; /* NULL: takes none */
	bool argument_is_optional;
	const char *help;
	int (*parse)(struct options *o, const char *text);
};
/* NULL after the last. */
const struct option_row *options_row(size_t i);

#endif
