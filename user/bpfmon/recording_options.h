/* SPDX-License-Identifier: BSD-2-Clause */
/* The options that a run and an attachment have in common. */
#ifndef BPFMON_RECORDING_OPTIONS_H
#define BPFMON_RECORDING_OPTIONS_H

#include "bpfmon/roles/recorder.h"
#include "measure/optional.h"
#include "options/common_options.h"
#include "run/metric.h"
#include "run/run.h"

#include <stddef.h>
#include <stdint.h>

/* The tags of a run: of --tag, and of the environment. */
struct run_tags {
	const char *list[MAX_TAGS]; /* key=value, the keys are unique; not owned */
	size_t nr;
};

/* Of a row, for struct run_tags: key=value; takes the place of one with the same key. -EINVAL;
 * -ENAMETOOLONG: it has RUN_WORD_BYTES; -E2BIG: there are MAX_TAGS. */
int run_tags_parse(void *tags, const char *text);

/* What a run or attachment does where neither BPF nor an agent is available. */
enum if_unavailable { USE_PROCFS, RUN_BARE, FAIL_TO_RUN };

#define PSS_PPM_DEFAULT 20000 /* 2 % */

struct recording_options {
	uint64_t interval_ns;
	struct recorder_output outputs[MAX_OUTPUTS];
	const char *output_text[MAX_OUTPUTS]; /* as given, resolved when all options are known */
	size_t nr_outputs;
	bool outputs_are_defaults; /* of the environment */
	const char *format;        /* of outputs that name none */
	const char *default_format;
	const char *template, *default_template; /* what the summary is to be; NULL: as usual */
	struct metric_set wanted;
	bool chooses_metrics; /* --metrics */
	bool quiet, verbose, live, force, no_args, exact_peak, net, io_kinds, block_io,
		record_as_root;
	unsigned max_tasks, inject_misses, inject_free_misses, slow_pss_ms;
	enum if_unavailable if_unavailable;
	struct refusals refusals;   /* for tests */
	unsigned stalled_below_ppm; /* millionths of a CPU: less is no work */
	uint64_t stalled_after_ns;  /* 0: never */
	const char *on_stall;       /* NULL: not given */
	unsigned process_samples;   /* at each sample; 0: none */
	unsigned net_peers;         /* at each sample; 0: none */
	unsigned pss_ppm;           /* millionths of the time for reading PSS; 0: not asked for */
	const char *name, *job, *note; /* NULL: not given */
	const char *agent;             /* the socket of the agent to go through; NULL: not given */
	struct run_tags tags;
	struct store_options store;
};

/* Rows of struct recording_options. */
extern const struct option_row sampling_rows[], naming_rows[], showing_rows[], rights_rows[],
	tracking_rows[];

/* The first groups of a subcommand with a member `recording` in its struct @of. */
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
 * Fills in @options of the subcommand, of which @r is a part: defaults, environment, command line,
 * tags of both. -EINVAL after one line to the user.
 */
int recording_parse(const struct subcommand *sub, void *options, struct recording_options *r,
		    int argc, char **argv);
/*
 * What follows from all options together: formats of outputs; metrics, with those of a cgroup if
 * there is to be one. -EINVAL after one line to the user.
 */
int recording_resolve(struct recording_options *r, bool has_cgroup);
/* Prints the paragraph on variables of the environment. */
void recording_print_variables(void);

/*
 * Parsers of rows for recording: the pointer is to struct recording_options where nothing else is
 * said. Return 0 or -EINVAL.
 */
int interval_parse(void *interval_ns, const char *text);
/* Of a name or a job: const char *, not empty; -ENAMETOOLONG: it has RUN_WORD_BYTES. */
int run_word_parse(void *value, const char *text);
int output_parse(void *recording, const char *text);
/* The name of a format of outputs, or a template of the summary. */
int format_parse(void *recording, const char *text);
int metrics_parse(void *recording, const char *text);
/* NAME, which is refused when it is loaded, NAME:attach, or a type of programs. */
int inject_no_program_parse(void *refusals, const char *text);

#endif
