/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of `run` and `attach`: those that both have, and all of each. */
#ifndef BPFMON_RECORDING_OPTIONS_H
#define BPFMON_RECORDING_OPTIONS_H

#include "bpfmon/roles/intake.h"
#include "bpfmon/roles/recorder.h"
#include "measure/optional.h"
#include "measure/tracker.h"
#include "options/common_options.h"
#include "run/limit.h"
#include "run/metric.h"
#include "run/run.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The tags of a run, from --tag and the environment. */
struct run_tags {
	const char *list[MAX_TAGS]; /* key=value with unique keys; not owned */
	size_t nr;
};

/*
 * Parses key=value for a struct run_tags; replaces a tag with the same key. Returns 0, -EINVAL,
 * -ENAMETOOLONG if it has RUN_WORD_BYTES or more, or -E2BIG if there are MAX_TAGS already.
 */
int run_tags_parse(void *tags, const char *text);

/* What `run` and `attach` do if neither BPF nor an agent is available. */
enum if_unavailable { USE_PROCFS, RUN_BARE, FAIL_TO_RUN };

#define PSS_PPM_DEFAULT 20000 /* 2 % */

struct recording_options {
	uint64_t interval_ns;
	struct recorder_output outputs[MAX_OUTPUTS];
	const char *output_text[MAX_OUTPUTS]; /* as given; resolved when all options are known */
	size_t nr_outputs;
	bool outputs_are_defaults; /* from the environment */
	const char *format;        /* of outputs without a format of their own */
	const char *default_format;
	const char *template, *default_template; /* template of the summary; NULL: standard */
	struct metric_set wanted;
	bool chooses_metrics; /* --metrics is given */
	bool quiet, verbose, live, force, no_args, exact_peak, net, io_kinds, block_io,
		record_as_root;
	unsigned max_tasks, inject_misses, inject_free_misses, slow_pss_ms;
	enum if_unavailable if_unavailable;
	enum summary_length summary;
	struct refusals refusals;   /* for tests */
	unsigned stalled_below_ppm; /* in millionths of a CPU: a run that uses less does no work */
	uint64_t stalled_after_ns;  /* 0: never */
	const char *on_stall;       /* NULL if not given */
	unsigned process_samples;   /* rows per sample; 0: none */
	unsigned net_peers;         /* rows per sample; 0: none */
	unsigned pss_ppm;  /* share of the time for reading PSS, in millionths; 0: do not read it */
	bool pss_is_asked; /* by --pss, not only by --metrics */
	const char *name, *job, *note; /* NULL if not given */
	const char *agent;             /* socket of the agent to use; NULL if not given */
	struct run_tags tags;
	struct store_options store;
};

/* Rows of struct recording_options. */
extern const struct option_row sampling_rows[], naming_rows[], showing_rows[], rights_rows[],
	tracking_rows[];

/*
 * The first option groups of a subcommand whose options, a struct @of, have a member `recording`.
 */
/* clang-format off */
#define RECORDING_GROUPS(of) \
	{ sampling_rows, offsetof(of, recording), true }, \
	{ force_rows, offsetof(of, recording.force), true }, \
	{ naming_rows, offsetof(of, recording), true }, \
	{ store_rows, offsetof(of, recording.store), true }, \
	{ showing_rows, offsetof(of, recording), true }, \
	{ colour_rows, offsetof(of, common), true }
/* clang-format on */

/*
 * Fills in @options of the subcommand, of which @r is a part, from defaults, environment and
 * command line; tags come from both. Returns 0, or -EINVAL after a message to the user.
 */
int recording_parse(const struct subcommand *sub, void *options, struct recording_options *r,
		    int argc, char **argv);
/*
 * Resolves what depends on all options together: formats of outputs, and metrics, including those
 * of a cgroup if
 * @has_cgroup. Returns 0, or -EINVAL after a message to the user.
 */
int recording_resolve(struct recording_options *r, bool has_cgroup);
void recording_print_variables(void);

/*
 * Parsers of rows for recording; unless noted, the pointer is to a struct recording_options. Return
 * 0 or -EINVAL.
 */
int interval_parse(void *interval_ns, const char *text);
/*
 * Parses a name or job into a const char *; it must not be empty. Returns -ENAMETOOLONG if it has
 * RUN_WORD_BYTES or more.
 */
int run_word_parse(void *value, const char *text);
int output_parse(void *recording, const char *text);
/* Parses the name of an output format, or a template of the summary. */
int format_parse(void *recording, const char *text);
int metrics_parse(void *recording, const char *text);
/* Parses NAME (its load is refused), NAME:attach, or a type of programs. */
int inject_no_program_parse(void *refusals, const char *text);

/* The options of `run`. */

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

/* The options of `attach`. */
struct attach_options {
	struct common_options common;
	struct recording_options recording;
	pid_t pids[MAX_TARGETS];
	size_t nr_pids;
	const char *cgroup;    /* NULL if not given */
	const char *container; /* NULL if not given */
	bool wait_start;
	uint64_t duration_ns; /* 0: until the target has ended */
};

#endif
