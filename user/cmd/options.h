/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of a run: one table feeds parser, environment, help, manual and completion. */
#ifndef CMD_OPTIONS_H
#define CMD_OPTIONS_H

#include "model/metric.h"
#include "track/tracker.h"
#include "launch/intake.h"
#include "model/run.h"
#include "record/recorder.h"
#include "store/prune.h"

#define MAX_OPTIONS 64
#define MAX_FAIL_IF 32
#define PSS_PPM_DEFAULT 20000 /* 2 % */

/* Which subcommand takes an option. */
enum option_scope {
	FOR_RUN = 1,
	FOR_ATTACH = 2,
	FOR_ALL = FOR_RUN | FOR_ATTACH,
	FOR_LIST = 4,
	FOR_SHOW = 8,
	FOR_STORE = 16,
	FOR_EXPORT = 32,
	FOR_COMPARE = 64,
	FOR_REPORT = 128,
	FOR_ANY = 255
};

/* What a sudoers rule can rely on. */
enum option_guard {
	GUARD_NONE,
	GUARD_ENVIRONMENT, /* chooses paths, targets or rights: under sudo no variable stands for it
			    */
	GUARD_USER,        /* chooses users: that, and not after --user */
	GUARD_TEST,        /* falsifies an account, for tests: no variable, and not in the help */
};

struct export_format;

struct options {
	enum option_scope scope; /* of the subcommand */
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
	bool is_lowered;  /* --user was on the line: what chooses users cannot come after it */
	const char *user; /* NULL with switch_user: who called sudo */
	unsigned max_tasks, inject_misses;
	unsigned refused, unattached; /* optional programs, for tests */
	unsigned process_samples;     /* at each sample; 0: none */
	unsigned pss_ppm;             /* millionths of the time for reading PSS; 0: not asked for */
	pid_t pids[MAX_TARGETS];
	size_t nr_pids;
	const char *cgroup;    /* as named; NULL: none */
	const char *container; /* the same */
	bool wait_start;
	uint64_t duration_ns;   /* 0: until it has ended */
	const char *name, *job; /* of the run; of list: what its name is to be */
	const char *tags[MAX_TAGS];
	size_t nr_tags;
	const char *store; /* as named; NULL: the user's own */
	bool no_store;
	struct run_filter filter; /* of list */
	enum run_order order;
	unsigned limit; /* 0: all */
	bool has_limit, json;
	struct prune_limits prune; /* of store prune */
	bool dry_run;
	struct intake_options push;            /* what programs may push */
	const struct export_format *export_as; /* of export; NULL: none was named */
	const char *export_path;               /* NULL: stdout */
	const char *by, *baseline, *html;      /* of compare; NULL: not given */
	const char *fail_if[MAX_FAIL_IF];
	size_t nr_fail_if;
	bool significant;
	const char *report_path, *report_format; /* NULL: not given */
	bool by_phase;                           /* of show */
	bool help, version;
	char **command; /* or the words; NULL-terminated; NULL with help or version */
};

/* 0; or -EINVAL, after one line to the user. */
int options_parse(struct options *o, enum option_scope scope, int argc, char **argv);
/* The rows of the options that @scope takes. */
void options_help(enum option_scope scope);

/* A row of the table, for what is generated from it. */
struct option_row {
	const char *name;     /* long, without dashes */
	char key;             /* short; 0: none */
	const char *argument; /* NULL: takes none */
	bool argument_is_optional;
	const char *help;
	int (*parse)(struct options *o, const char *text);
	enum option_scope scope;
	enum option_guard guard;
};
/* NULL after the last. */
const struct option_row *options_row(size_t i);

#endif
