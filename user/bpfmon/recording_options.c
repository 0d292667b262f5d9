// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/recording_options.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/nearest.h"
#include "base/procstat.h"
#include "measure/program_type.h"
#include "measure/tracker.h"
#include "config/config.h"
#include "options/option_values.h"
#include "options/settings.h"
#include "run/process.h"
#include "run/sample.h"
#include "run/template.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define STALLED_AFTER_S 60
#define STALLED_BELOW_PPM 5000

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define MIN_PSS_PERCENT 0.1
#define MAX_PSS_PERCENT 50.0
#define NET_PEERS_DEFAULT 20
#define MAX_SLOW_MS 86400000 /* a day */

int interval_parse(void *interval_ns, const char *text)
{
	uint64_t ns;

	if (time_parse(text, &ns))
		return -EINVAL;
	if (ns < MIN_INTERVAL_NS)
		return value_refuse("a time of at least 10ms, as in 1, 0.1 or 10ms");
	*(uint64_t *)interval_ns = ns;
	return 0;
}

int run_word_parse(void *value, const char *text)
{
	return strlen(text) < RUN_WORD_BYTES ? text_parse(value, text) : -ENAMETOOLONG;
}

int output_parse(void *recording, const char *text)
{
	struct recording_options *r = recording;

	if (r->outputs_are_defaults) { /* those of the command line replace them */
		r->outputs_are_defaults = false;
		r->nr_outputs = 0;
	}
	if (!*text)
		return value_refuse("a path, or FORMAT:PATH");
	if (r->nr_outputs == MAX_OUTPUTS)
		return value_refuse("at most %d outputs", MAX_OUTPUTS);
	r->output_text[r->nr_outputs++] = text;
	return 0;
}

int format_parse(void *recording, const char *text)
{
	struct recording_options *r = recording;

	if (text_is_template(text))
		r->template = text;
	else if (observer_find(text, strlen(text)))
		r->format = text;
	else
		return value_refuse("text, jsonl, csv, or a template, as in '%%e %%M %%C'");
	return 0;
}

int metrics_parse(void *recording, const char *text)
{
	struct recording_options *r = recording;
	const char *bad;
	size_t length;

	r->chooses_metrics = true;
	if (metric_set_parse(&r->wanted, text, &bad, &length))
		return value_refuse("keys or groups from 'bpfmon metrics', separated by commas");
	return 0;
}

static int percent_parse(const char *text, double min, double max, unsigned *ppm)
{
	double percent;
	char *end;

	value_refuse("a percentage from %g to %g", min, max);
	if (decimal_parse(text, &percent, &end) || (strcmp(end, "%") != 0 && *end))
		return -EINVAL;
	if (!(percent >= min && percent <= max))
		return -EINVAL;
	*ppm = (unsigned)lround(percent * 10000);
	return 0;
}

static int pss_parse(void *ppm, const char *text)
{
	*(unsigned *)ppm = PSS_PPM_DEFAULT;
	return text ? percent_parse(text, MIN_PSS_PERCENT, MAX_PSS_PERCENT, ppm) : 0;
}

/* @text may be NULL: the default. */
static int net_peers_parse(void *number, const char *text)
{
	*(unsigned *)number = NET_PEERS_DEFAULT;
	return text ? number_parse(text, 1, MAX_NET_PEERS, number) : 0;
}

static int stalled_after_parse(void *ns, const char *text)
{
	return time_parse(text, ns);
}

static int stalled_below_parse(void *ppm, const char *text)
{
	return percent_parse(text, 0, 100, ppm);
}

static int process_samples_parse(void *number, const char *text)
{
	return number_parse(text, 0, MAX_PROCESS_SAMPLES, number);
}

static int record_as_parse(void *as_root, const char *text)
{
	if (strcmp(text, "root") != 0)
		return value_refuse("root");
	*(bool *)as_root = true;
	return 0;
}

static int if_unavailable_parse(void *recording, const char *text)
{
	static const char *const words[] = {
		[USE_PROCFS] = "procfs",
		[RUN_BARE] = "bare",
		[FAIL_TO_RUN] = "fail",
	};
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	((struct recording_options *)recording)->if_unavailable = (enum if_unavailable)at;
	return 0;
}

static int summary_parse(void *length, const char *text)
{
	static const char *const words[] = {
		[SUMMARY_AUTO] = "auto",
		[SUMMARY_SHORT] = "short",
		[SUMMARY_FULL] = "full",
	};
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	*(enum summary_length *)length = (enum summary_length)at;
	return 0;
}

/* Parses 'exact': fail if nothing exact is available. */
static int require_parse(void *recording, const char *text)
{
	return strcmp(text, "exact") != 0 ? value_refuse("exact")
					  : if_unavailable_parse(recording, "fail");
}

static int max_tasks_parse(void *number, const char *text)
{
	return number_parse(text, 1, MAX_TASKS, number);
}

static int inject_misses_parse(void *permille, const char *text)
{
	return number_parse(text, 1, 999, permille);
}

static int inject_slow_pss_parse(void *ms, const char *text)
{
	return number_parse(text, 1, MAX_SLOW_MS, ms);
}

int inject_no_program_parse(void *refusals, const char *text)
{
	struct refusals *r = refusals;
	size_t length = strcspn(text, ":");
	unsigned bit = optional_find(text, length), types = program_type_bits(text);
	bool is_attach = !strcmp(text + length, ":attach");

	if ((!bit && !types) || (text[length] && !is_attach))
		return value_refuse("a program or a type of programs, or PROGRAM:attach");
	*(is_attach ? &r->attaching : &r->loading) |= bit;
	r->types |= types;
	return 0;
}

/*
 * Returns 0, -EINVAL if @text is not a tag, -ENAMETOOLONG, or -E2BIG if there is no room for
 * another.
 */
static int run_tags_put(struct run_tags *tags, const char *text, bool displaces)
{
	size_t key = strcspn(text, "=");

	if (!key || text[key] != '=')
		return value_refuse("KEY=VALUE");
	if (strlen(text) >= RUN_WORD_BYTES)
		return -ENAMETOOLONG;
	for (size_t i = 0; i < tags->nr; i++) {
		if (strncmp(tags->list[i], text, key + 1) != 0)
			continue;
		if (displaces)
			tags->list[i] = text;
		return 0;
	}
	if (tags->nr == MAX_TAGS)
		return -E2BIG;
	tags->list[tags->nr++] = text;
	return 0;
}

int run_tags_parse(void *tags, const char *text)
{
	return run_tags_put(tags, text, true);
}

/* clang-format off */
#define AT(field) offsetof(struct recording_options, field)

const struct option_row sampling_rows[] = {
	{ "interval", 'i', "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, minimum 10ms)", interval_parse, AT(interval_ns), GUARD_NONE },
	{ "output", 'o', "[FORMAT:]PATH", false, "Write the run to PATH (- for stdout); may be repeated", output_parse, 0, GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "Output format: text, jsonl, csv; or a template: '%e %M %C'", format_parse, 0, GUARD_NONE },
	{ "metrics", 0, "LIST", false, "Record only these groups or keys, as in cpu,io,rss_bytes", metrics_parse, 0, GUARD_NONE },
	{ "pss", 0, "PERCENT", true, "Read PSS and USS, for 0.1 to 50 % of the time (default 2)", pss_parse, AT(pss_ppm), GUARD_NONE },
	{ "net", 0, NULL, false, "Count socket traffic and TCP connections", flag_parse, AT(net), GUARD_NONE },
	{ "net-peers", 0, "N", true, "Like --net, with the N busiest peer addresses (default 20)", net_peers_parse, AT(net_peers), GUARD_NONE },
	{ "io-kinds", 0, NULL, false, "Split bytes read and written: files, sockets, pipes, others", flag_parse, AT(io_kinds), GUARD_NONE },
	{ "process-samples", 0, "N", false, "Sample the N heaviest processes, too (up to 1000)", process_samples_parse, AT(process_samples), GUARD_NONE },
	{ "stalled-after", 0, "TIME", false, "Report a stall after this long without activity (default 60)", stalled_after_parse, AT(stalled_after_ns), GUARD_NONE },
	{ "stalled-below", 0, "PERCENT", false, "Percent of a core that counts as activity (default 0.5)", stalled_below_parse, AT(stalled_below_ppm), GUARD_NONE },
	{ "on-stall", 0, "COMMAND", false, "Run this shell command when the job stalls", text_parse, AT(on_stall), GUARD_ENVIRONMENT },
	{ 0 }
};

const struct option_row naming_rows[] = {
	{ "name", 0, "NAME", false, "Name of the run", run_word_parse, AT(name), PROJECT_MAY_AS_ROOT },
	{ "job", 0, "ID", false, "Job ID of the run, as given by a scheduler", run_word_parse, AT(job), PROJECT_MAY_AS_ROOT },
	{ "tag", 0, "KEY=VALUE", false, "Tag the run; may be repeated", run_tags_parse, AT(tags), PROJECT_MAY_AS_ROOT },
	{ "note", 'm', "TEXT", false, "Note on the run; bpfmon list shows and searches it", text_parse, AT(note), PROJECT_MAY_AS_ROOT },
	{ 0 }
};

const struct option_row showing_rows[] = {
	{ "no-store", 0, NULL, false, "Do not save the run in the store", flag_parse, AT(store.is_off), GUARD_NONE },
	{ "live", 0, NULL, false, "Show a status line during the run, if stderr is a terminal", flag_parse, AT(live), GUARD_NONE },
	{ "summary", 0, "LENGTH", false, "'full', 'short', or 'auto': short for a saved run below 1 s", summary_parse, AT(summary), GUARD_NONE },
	{ "quiet", 'q', NULL, false, "Print no summary on stderr", flag_parse, AT(quiet), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Report what is loaded, what is missing, and output paths", flag_parse, AT(verbose), GUARD_NONE },
	{ "no-args", 0, NULL, false, "Do not record command lines, which may contain secrets", flag_parse, AT(no_args), GUARD_NONE },
	{ 0 }
};

const struct option_row rights_rows[] = {
	{ "agent", 0, "SOCKET", false, "Use the agent at SOCKET, even if bpfmon could measure directly", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ "record-as", 0, "WHO", false, "'root': write outputs as root, not as the calling user", record_as_parse, AT(record_as_root), GUARD_USER },
	{ "if-unavailable", 0, "WHAT", false, "Without BPF: 'procfs' (default), 'bare' (unmeasured), or 'fail'", if_unavailable_parse, 0, GUARD_NONE },
	{ "require", 0, "exact", false, "Same as --if-unavailable fail", require_parse, 0, GUARD_NONE },
	{ 0 }
};

const struct option_row tracking_rows[] = {
	{ "exact-peak", 0, NULL, false, "Track each memory event, for the exact peak of the tree", flag_parse, AT(exact_peak), GUARD_NONE },
	{ "block-io", 0, NULL, false, "Count block I/O of the cgroup by device, with latencies", flag_parse, AT(block_io), GUARD_NONE },
	{ "max-tasks", 0, "N", false, "Track up to N tasks at once (default: by memory and live tasks)", max_tasks_parse, AT(max_tasks), GUARD_NONE },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", inject_misses_parse, AT(inject_misses), GUARD_TEST },
	{ "inject-free-misses", 0, "N", false, "For tests: ignore N of 1000 last events of tasks", inject_misses_parse, AT(inject_free_misses), GUARD_TEST },
	{ "inject-slow-pss", 0, "MS", false, "For tests: each read of PSS takes MS milliseconds longer", inject_slow_pss_parse, AT(slow_pss_ms), GUARD_TEST },
	{ "inject-no-program", 0, "NAME", false, "For tests: refuse a program, or all of a type, as in fexit", inject_no_program_parse, AT(refusals), GUARD_TEST },
	{ 0 }
};
/* clang-format on */

/* Removes the tags of files and of BPFMON_TAG, which are added again after those of --tag. */
static struct run_tags recording_take_default_tags(struct recording_options *r)
{
	struct run_tags tags = r->tags;

	r->tags.nr = 0;
	return tags;
}

#define PREFIX "BPFMON_TAG_"

/*
 * Adds BPFMON_TAG_sample=A7 as sample=A7, then @defaults (from BPFMON_TAG or files) whose keys are
 * not used yet. Returns the number of tags that are too long or too many.
 */
static size_t run_tags_add_defaults(struct run_tags *tags, const struct run_tags *defaults)
{
	size_t left_out = 0;
	int err;

	for (char **variable = environ; variable && *variable; variable++) {
		if (strncmp(*variable, PREFIX, strlen(PREFIX)) != 0)
			continue;
		err = run_tags_put(tags, *variable + strlen(PREFIX), false);
		left_out += err && err != -EINVAL;
	}
	for (size_t i = 0; i < defaults->nr; i++)
		left_out += run_tags_put(tags, defaults->list[i], false) == -E2BIG;
	return left_out;
}

static void recording_add_tags(struct recording_options *r, const struct run_tags *defaults)
{
	size_t left_out = run_tags_add_defaults(&r->tags, defaults);

	if (left_out)
		log_warn("a run has at most %d tags, each of less than %d bytes; ignored from the "
			 "environment (BPFMON_TAG_...): %zu",
			 MAX_TAGS, RUN_WORD_BYTES, left_out);
}

int recording_parse(const struct subcommand *sub, void *options, struct recording_options *r,
		    int argc, char **argv)
{
	const struct common_options *common = options;
	struct run_tags defaults;

	memset(options, 0, sub->options_bytes);
	r->interval_ns = NSEC_PER_SEC;
	r->stalled_below_ppm = STALLED_BELOW_PPM;
	r->stalled_after_ns = STALLED_AFTER_S * NSEC_PER_SEC;
	metric_set_default(&r->wanted);
	if (task_delays_are_kept())
		metric_set_put_source(&r->wanted, SOURCE_DELAY);
	if (options_from_files(sub, options) || options_from_environment(sub, options))
		return -EINVAL;
	defaults = recording_take_default_tags(r);
	r->default_format = r->format;
	r->default_template = r->template;
	r->outputs_are_defaults = r->nr_outputs > 0;
	if (options_from_line(sub, options, argc, argv))
		return -EINVAL;
	if (common->words)
		recording_add_tags(r, &defaults);
	return 0;
}

/* Refuses an unknown format-like extension: JSON Lines in run.xlsx would be a surprise. */
static int output_refuse_extension(const char *path)
{
	const struct observer_ops *ops;
	char known[100] = "";
	size_t n = 0;

	for (size_t i = 0; (ops = observer_at(i)); i++)
		if (ops->extension && n < sizeof(known))
			n += (size_t)snprintf(known + n, sizeof(known) - n, "%s%s (%s)",
					      n ? ", " : "", ops->name, ops->extension);
	log_error("--output does not accept '%s': unknown extension; use one of %s, or name the "
		  "format, as in jsonl:%s",
		  path, known, path);
	return -EINVAL;
}

/* Returns the length of FORMAT if @text looks like FORMAT:PATH, else 0. */
static size_t output_format_length(const char *text)
{
	size_t n = strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return text[n] == ':' ? n : 0;
}

/*
 * Refuses FORMAT:PATH with a format that does not exist: a file of that name would be a surprise.
 * Returns 0 where something else tells the format, and FORMAT is near none.
 */
static int output_check_format(const char *text, bool is_known)
{
	size_t n = output_format_length(text);
	const struct observer_ops *ops;
	struct nearest near;

	if (!n)
		return 0;
	nearest_begin(&near, text, n);
	for (size_t i = 0; (ops = observer_at(i)); i++)
		if (!ops->target)
			nearest_offer(&near, ops->name);
	if (near.word)
		log_error("--output does not accept '%s': there is no format '%.*s'; did you mean "
			  "'%s%s'? A file of that name is ./%s",
			  text, (int)n, text, near.word, text + n, text);
	else if (!is_known)
		log_error("--output does not accept '%s': there is no format '%.*s', only text, "
			  "jsonl, csv and influx; a file of that name is ./%s",
			  text, (int)n, text, text);
	return near.word || !is_known ? -EINVAL : 0;
}

static int output_check_url(const char *url)
{
	char why[CONFIG_WHY_BYTES];
	struct agent_config c;
	int err = config_set(&c, "url", url, why, sizeof(why));

	if (err)
		log_error("--output does not accept 'influx:%.*s': it expects influx:URL, where "
			  "URL is %s",
			  (int)strcspn(url, "?"), url, why);
	return err;
}

/* Uses FORMAT of FORMAT:PATH if known, else --format, else the extension, else jsonl. */
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
		if (out->path == text && output_check_format(text, out->format != NULL))
			return -EINVAL;
		if (!out->format && path_extension(text))
			return output_refuse_extension(text);
		if (!out->format)
			out->format = &jsonl_observer;
		if (!*out->path)
			return options_refuse("missing path in --output", text);
		if (out->format == &influx_observer && output_check_url(out->path))
			return -EINVAL;
	}
	return 0;
}

static bool outputs_have_text(const struct recording_options *r)
{
	for (size_t i = 0; i < r->nr_outputs; i++)
		if (r->outputs[i].format == &text_observer)
			return true;
	return false;
}

static int template_resolve(const struct recording_options *r)
{
	char why[TEMPLATE_WHY_BYTES];

	if (!r->template)
		return 0;
	if (template_check(r->template, why)) {
		log_error("--format does not accept '%s': %s", r->template, why);
		return -EINVAL;
	}
	if (!r->quiet || r->template == r->default_template || outputs_have_text(r))
		return 0;
	log_error("--format '%s' has no effect with --quiet, which prints no summary; remove "
		  "--quiet, or add -o text:FILE",
		  r->template);
	return -EINVAL;
}

/* A metric of PSS in --metrics turns on reading it; --pss alone records all metrics of PSS. */
static void pss_resolve(struct recording_options *r)
{
	bool is_named = metric_set_has_source(&r->wanted, SOURCE_PROCFS);

	r->pss_is_asked = r->pss_ppm > 0;
	if (r->pss_ppm && !is_named)
		metric_set_put_source(&r->wanted, SOURCE_PROCFS);
	else if (is_named && !r->pss_ppm)
		r->pss_ppm = PSS_PPM_DEFAULT;
}

/* Same for --block-io. Without a cgroup nothing is loaded, and a default of files is no error. */
static void block_io_resolve(struct recording_options *r, bool has_cgroup)
{
	bool is_named = metric_set_has_source(&r->wanted, SOURCE_BLOCK);

	if (r->block_io && !has_cgroup)
		log_warn("--block-io has no effect without a cgroup; use --own-cgroup or attach "
			 "--cgroup");
	else if (r->block_io && !is_named)
		metric_set_put_source(&r->wanted, SOURCE_BLOCK);
}

int recording_resolve(struct recording_options *r, bool has_cgroup)
{
	int err;

	if (has_cgroup && !r->chooses_metrics)
		metric_set_put_source(&r->wanted, SOURCE_CGROUP);
	block_io_resolve(r, has_cgroup);
	if (r->format != r->default_format &&
	    !r->nr_outputs) { /* a format from the environment may be unused */
		log_error("--format needs --output; try: -o run.%s", r->format);
		return -EINVAL;
	}
	if (r->net || r->net_peers)
		metric_set_put_option(&r->wanted, "--net", has_cgroup);
	if (r->io_kinds)
		metric_set_put_option(&r->wanted, "--io-kinds", has_cgroup);
	pss_resolve(r);
	err = outputs_resolve(r);
	return err ? err : template_resolve(r);
}

void recording_print_variables(void)
{
	puts("\n"
	     "Every option has an environment variable, as in BPFMON_INTERVAL=1 or "
	     "BPFMON_NO_ARGS=1.\n"
	     "Under sudo, variables that choose users, paths, targets or privileges are ignored.");
}
