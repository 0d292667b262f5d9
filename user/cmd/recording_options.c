// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/recording_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "cmd/option_values.h"
#include "cmd/recording_values.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* clang-format off */
#define AT(field) offsetof(struct recording_options, field)

const struct option_row sampling_rows[] = {
	{ "interval", 'i', "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", interval_parse, AT(interval_ns), GUARD_NONE },
	{ "output", 'o', "[FORMAT:]PATH", false, "Write the run to PATH (- for stdout); may be repeated", output_parse, 0, GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "Format of outputs that name none: text, jsonl, csv", format_parse, AT(format), GUARD_NONE },
	{ "metrics", 0, "LIST", false, "Only these groups or keys, as in cpu,io,rss_bytes", metrics_parse, 0, GUARD_NONE },
	{ "pss", 0, "PERCENT", true, "Read PSS and USS, in 0.1 to 50 % of the time (default 2)", pss_parse, AT(pss_ppm), GUARD_NONE },
	{ "process-samples", 0, "N", false, "At each sample also the N heaviest processes (up to 1000)", process_samples_parse, AT(process_samples), GUARD_NONE },
	{ 0 }
};

const struct option_row naming_rows[] = {
	{ "name", 0, "NAME", false, "Name the run, to find it again", text_parse, AT(name), GUARD_NONE },
	{ "job", 0, "ID", false, "The job that the run belongs to, as a scheduler numbers it", text_parse, AT(job), GUARD_NONE },
	{ "tag", 0, "KEY=VALUE", false, "Tag the run; may be repeated", run_tags_parse, AT(tags), GUARD_NONE },
	{ 0 }
};

const struct option_row showing_rows[] = {
	{ "no-store", 0, NULL, false, "Do not keep the run in the store", flag_parse, AT(store.is_off), GUARD_NONE },
	{ "quiet", 'q', NULL, false, "No summary on stderr", flag_parse, AT(quiet), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Say what is loaded, what is missing, and where the run goes", flag_parse, AT(verbose), GUARD_NONE },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", flag_parse, AT(no_args), GUARD_NONE },
	{ 0 }
};

const struct option_row rights_rows[] = {
	{ "record-as", 0, "WHO", false, "'root': write outputs with root's rights, not the caller's", record_as_parse, AT(record_as_root), GUARD_USER },
	{ 0 }
};

const struct option_row tracking_rows[] = {
	{ "exact-peak", 0, NULL, false, "Follow the tree's memory event by event, for its exact peak", flag_parse, AT(exact_peak), GUARD_NONE },
	{ "max-tasks", 0, "N", false, "Room for N tasks at once (default 8192 to 32768, or more)", max_tasks_parse, AT(max_tasks), GUARD_NONE },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", inject_misses_parse, AT(inject_misses), GUARD_TEST },
	{ "inject-slow-pss", 0, "MS", false, "For tests: each read of PSS takes MS milliseconds longer", inject_slow_pss_parse, AT(slow_pss_ms), GUARD_TEST },
	{ "inject-no-program", 0, "NAME", false, "For tests: refuse an optional program, as in oom__victim", inject_no_program_parse, 0, GUARD_TEST },
	{ 0 }
};
/* clang-format on */

/* Takes out BPFMON_TAG, parsed with the environment, until --tag has had its room. NULL: not set.
 */
static const char *recording_take_default_tag(struct recording_options *r)
{
	const char *tag = r->tags.nr ? r->tags.list[0] : NULL;

	r->tags.nr = 0;
	return tag;
}

static void recording_add_tags(struct recording_options *r, const char *default_tag)
{
	size_t left_out = run_tags_add_environment(&r->tags, default_tag);

	if (left_out)
		log_warn("a run has %d tags at most; left out of those in the environment "
			 "(BPFMON_TAG_...): %zu",
			 MAX_TAGS, left_out);
}

int recording_parse(const struct subcommand *sub, void *options, struct recording_options *r,
		    int argc, char **argv)
{
	const struct common_options *common = options;
	const char *default_tag;

	memset(options, 0, sub->options_bytes);
	r->interval_ns = NSEC_PER_SEC;
	metric_set_default(&r->wanted);
	if (options_from_environment(sub, options))
		return -EINVAL;
	default_tag = recording_take_default_tag(r);
	r->default_format = r->format;
	r->outputs_are_defaults = r->nr_outputs > 0;
	if (options_from_line(sub, options, argc, argv))
		return -EINVAL;
	if (common->words)
		recording_add_tags(r, default_tag);
	return 0;
}

/* FORMAT:PATH, where FORMAT is known; else --format, else the extension, else jsonl. */
static int outputs_resolve(struct recording_options *r)
{
	for (size_t i = 0; i < r->nr_outputs; i++) {
		struct recorder_output *out = &r->outputs[i];
		const char *text = r->output_text[i], *colon = strchr(text, ':');

		out->path = text;
		out->format = colon ? observer_find(text, (size_t)(colon - text)) : NULL;
		if (out->format)
			out->path = colon + 1;
		else if (r->format)
			out->format = observer_find(r->format, strlen(r->format));
		else
			out->format = observer_for_path(text);
		if (!out->format)
			out->format = &jsonl_observer;
		if (!*out->path)
			return options_refuse("a path is missing in --output", text);
	}
	return 0;
}

/* A metric of PSS in --metrics turns on its reading; --pss alone asks for all metrics of PSS. */
static void pss_resolve(struct recording_options *r)
{
	bool is_named = metric_set_has_source(&r->wanted, SOURCE_PROCFS);

	if (r->pss_ppm && !is_named)
		metric_set_put_source(&r->wanted, SOURCE_PROCFS);
	else if (is_named && !r->pss_ppm)
		r->pss_ppm = PSS_PPM_DEFAULT;
}

int recording_resolve(struct recording_options *r, bool has_cgroup)
{
	if (has_cgroup && !r->chooses_metrics)
		metric_set_put_source(&r->wanted, SOURCE_CGROUP);
	if (r->format != r->default_format &&
	    !r->nr_outputs) { /* one of the environment may be unused */
		log_error("--format says how, but no --output says where; try -o run.%s",
			  r->format);
		return -EINVAL;
	}
	pss_resolve(r);
	return outputs_resolve(r);
}

void recording_print_variables(void)
{
	puts("\nEvery option has an environment variable: BPFMON_INTERVAL, "
	     "BPFMON_NO_ARGS=1, ... Under\nsudo those that choose users, paths, targets "
	     "or rights are ignored.");
}
