// SPDX-License-Identifier: BSD-2-Clause
/* The rows, and what each takes. */
#include "cmd/options.h"

#include "base/clock.h"
#include "cmd/filter.h"
#include "cmd/tags.h"
#include "export/export.h"
#include "model/process_sample.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define MAX_INTERVAL_SECONDS (7 * 24 * 3600.0)
#define MIN_PSS_PERCENT 0.1
#define MAX_PSS_PERCENT 50.0
#define MAX_PID (1U << 22) /* of any Linux */
#define MAX_TASKS_LIMIT (1U << 22)

/* Digits and a point: no blanks, signs, "inf", hexadecimals. */
static int parse_decimal(const char *text, double *value, char **end)
{
	if ((!isdigit((unsigned char)*text) && *text != '.') || strpbrk(text, "xX"))
		return -EINVAL;
	*value = strtod(text, end);
	return *end == text ? -EINVAL : 0;
}

/* Seconds, or milliseconds with "ms" behind them. */
static int parse_time(const char *text, uint64_t *ns)
{
	char *end;
	double v;

	if (parse_decimal(text, &v, &end))
		return -EINVAL;
	if (!strcmp(end, "ms"))
		v /= 1000;
	else if (*end && strcmp(end, "s") != 0)
		return -EINVAL;
	if (!isfinite(v) || v > MAX_INTERVAL_SECONDS)
		return -EINVAL;
	*ns = (uint64_t)llround(v * 1e9);
	return 0;
}

static int parse_interval(struct options *o, const char *text)
{
	uint64_t ns;

	if (parse_time(text, &ns) || ns < MIN_INTERVAL_NS)
		return -EINVAL;
	o->interval_ns = ns;
	return 0;
}

static int parse_duration(struct options *o, const char *text)
{
	return parse_time(text, &o->duration_ns) || !o->duration_ns ? -EINVAL : 0;
}

static int parse_output(struct options *o, const char *text)
{
	if (o->outputs_are_defaults) { /* the line's take their place */
		o->outputs_are_defaults = false;
		o->nr_outputs = 0;
	}
	if (!*text || o->nr_outputs == MAX_OUTPUTS)
		return -EINVAL;
	o->output_text[o->nr_outputs++] = text;
	return 0;
}

static int parse_format(struct options *o, const char *text)
{
	if (!sink_find(text, strlen(text)))
		return -EINVAL;
	o->format = text;
	return 0;
}

static int parse_export_format(struct options *o, const char *text)
{
	o->export_as = export_find(text);
	return o->export_as ? 0 : -EINVAL;
}

static int parse_export_path(struct options *o, const char *text)
{
	o->export_path = text;
	return *text ? 0 : -EINVAL;
}

static int parse_metrics(struct options *o, const char *text)
{
	const char *bad;
	size_t length;

	o->chooses_metrics = true;
	return metric_set_parse(&o->wanted, text, &bad, &length);
}

static int parse_pss(struct options *o, const char *text)
{
	double percent = PSS_PPM_DEFAULT / 1e4;
	char *end = "";

	if (text && parse_decimal(text, &percent, &end))
		return -EINVAL;
	if (strcmp(end, "%") != 0 && *end)
		return -EINVAL;
	if (!(percent >= MIN_PSS_PERCENT && percent <= MAX_PSS_PERCENT))
		return -EINVAL;
	o->pss_ppm = (unsigned)lround(percent * 10000);
	return 0;
}

static int parse_user(struct options *o, const char *text)
{
	if (text && !*text)
		return -EINVAL;
	o->switch_user = true;
	o->user = text;
	return 0;
}

static int parse_wait(struct options *o, const char *text)
{
	if (strcmp(text, "tree") != 0 && strcmp(text, "command") != 0)
		return -EINVAL;
	o->wait_tree = !strcmp(text, "tree");
	return 0;
}

static int parse_record_as(struct options *o, const char *text)
{
	if (strcmp(text, "root") != 0)
		return -EINVAL;
	o->record_as_root = true;
	return 0;
}

static int parse_number(const char *text, unsigned long max, unsigned *number)
{
	char *end;
	unsigned long v;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	v = strtoul(text, &end, 10);
	if (*end || errno || !v || v > max)
		return -EINVAL;
	*number = (unsigned)v;
	return 0;
}

static int parse_pid(struct options *o, const char *text)
{
	unsigned pid;

	if (o->nr_pids == MAX_TARGETS || parse_number(text, MAX_PID, &pid))
		return -EINVAL;
	o->pids[o->nr_pids++] = (pid_t)pid;
	return 0;
}

static int parse_cgroup(struct options *o, const char *text)
{
	o->cgroup = text;
	return *text ? 0 : -EINVAL;
}

static int parse_container(struct options *o, const char *text)
{
	o->container = text;
	return *text ? 0 : -EINVAL;
}

static int parse_marks(struct options *o, const char *text)
{
	(void)text;
	o->push.marks = true;
	return 0;
}

static int parse_metrics_udp(struct options *o, const char *text)
{
	o->push.metrics_udp = true;
	o->push.port = 0;
	return strcmp(text, "0") ? parse_number(text, UINT16_MAX, &o->push.port) : 0;
}

static int parse_process_samples(struct options *o, const char *text)
{
	o->process_samples = 0;
	return strcmp(text, "0") ? parse_number(text, MAX_PROCESS_SAMPLES, &o->process_samples) : 0;
}

static int parse_max_tasks(struct options *o, const char *text)
{
	return parse_number(text, MAX_TASKS_LIMIT, &o->max_tasks);
}

static int parse_inject_misses(struct options *o, const char *text)
{
	return parse_number(text, 999, &o->inject_misses);
}

/* NAME, which is refused when it is loaded, or NAME:attach. */
static int parse_inject_no_program(struct options *o, const char *text)
{
	size_t length = strcspn(text, ":");
	unsigned bit = optional_find(text, length);
	bool is_attach = !strcmp(text + length, ":attach");

	if (!bit || (text[length] && !is_attach))
		return -EINVAL;
	if (is_attach && bit == OPTIONAL_BIT(OPTIONAL_LOCKS)) /* they are no program */
		return -EINVAL;
	*(is_attach ? &o->unattached : &o->refused) |= bit;
	return 0;
}

static int parse_by(struct options *o, const char *text)
{
	o->by = text;
	return *text ? 0 : -EINVAL;
}

static int parse_baseline(struct options *o, const char *text)
{
	o->baseline = text;
	return 0;
}

static int parse_html(struct options *o, const char *text)
{
	o->html = text;
	return *text ? 0 : -EINVAL;
}

static int parse_fail_if(struct options *o, const char *text)
{
	if (o->nr_fail_if == MAX_FAIL_IF)
		return -EINVAL;
	o->fail_if[o->nr_fail_if++] = text;
	return 0;
}

#define FLAG(field)                                                                                \
	static int parse_##field(struct options *o, const char *text)                              \
	{                                                                                          \
		(void)text;                                                                        \
		o->field = true;                                                                   \
		return 0;                                                                          \
	}
static int parse_name(struct options *o, const char *text)
{
	o->name = text;
	return *text ? 0 : -EINVAL;
}

static int parse_job(struct options *o, const char *text)
{
	o->job = text;
	return *text ? 0 : -EINVAL;
}

static int parse_store(struct options *o, const char *text)
{
	o->store = text;
	o->no_store = false; /* whoever names one wants it */
	return *text ? 0 : -EINVAL;
}

static int parse_report_path(struct options *o, const char *text)
{
	o->report_path = text;
	return *text ? 0 : -EINVAL;
}

static int parse_report_format(struct options *o, const char *text)
{
	o->report_format = text;
	return strcmp(text, "html") == 0 || strcmp(text, "svg") == 0 ? 0 : -EINVAL;
}

FLAG(quiet)
FLAG(verbose)
FLAG(force)
FLAG(no_args)
FLAG(exact_peak)
FLAG(own_cgroup)
FLAG(wait_start)
FLAG(no_store)
FLAG(json)
FLAG(dry_run)
FLAG(significant)
FLAG(help)
FLAG(version)

/* clang-format off */
static const struct option_row rows[] = {
	{ "interval", 'i', "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", parse_interval, FOR_ALL },
	{ "output", 'o', "[FORMAT:]PATH", false, "Write the run to PATH (- for stdout); may be repeated", parse_output, FOR_ALL },
	{ "format", 'f', "FORMAT", false, "Format of outputs that name none: text, jsonl, csv", parse_format, FOR_ALL },
	{ "metrics", 0, "LIST", false, "Only these groups or keys, as in cpu,io,rss_bytes", parse_metrics, FOR_ALL },
	{ "pss", 0, "PERCENT", true, "Read PSS and USS, in 0.1 to 50 % of the time (default 2)", parse_pss, FOR_ALL },
	{ "process-samples", 0, "N", false, "At each sample also the N heaviest processes (up to 1000)", parse_process_samples, FOR_ALL },
	{ "format", 'f', "FORMAT", false, "One of jsonl, csv, json, influx ...; export --help lists all", parse_export_format, FOR_EXPORT },
	{ "output", 'o', "PATH", false, "Write to PATH, not to stdout", parse_export_path, FOR_EXPORT },
	{ "force", 0, NULL, false, "Replace output files that exist", parse_force, FOR_ALL | FOR_EXPORT | FOR_REPORT | FOR_COMPARE },
	{ "output", 'o', "PATH", false, "Where the report goes, - for stdout (default: RUN.html)", parse_report_path, FOR_REPORT },
	{ "format", 'f', "FORMAT", false, "html (default), or svg: the charts as one picture", parse_report_format, FOR_REPORT },
	{ "name", 0, "NAME", false, "Name the run, to find it again", parse_name, FOR_ALL },
	{ "job", 0, "ID", false, "The job that the run belongs to, as a scheduler numbers it", parse_job, FOR_ALL },
	{ "tag", 0, "KEY=VALUE", false, "Tag the run; may be repeated", parse_tag, FOR_ALL },
	{ "name", 0, "NAME", false, "Only runs of this name; * and ? stand for anything", parse_name, FOR_LIST | FOR_COMPARE },
	{ "job", 0, "ID", false, "Only runs of this job", parse_job, FOR_LIST | FOR_COMPARE },
	{ "tag", 0, "KEY[=VALUE]", false, "Only runs with this tag; may be repeated", parse_filter_tag, FOR_LIST | FOR_COMPARE },
	{ "command", 0, "TEXT", false, "Only runs whose command holds this text", parse_filter_command, FOR_LIST | FOR_COMPARE },
	{ "host", 0, "NAME", false, "Only runs on this host; * and ? stand for anything", parse_filter_host, FOR_LIST | FOR_COMPARE },
	{ "user", 0, "NAME", false, "Only runs of this user", parse_filter_user, FOR_LIST | FOR_COMPARE },
	{ "state", 0, "STATE", false, "Only runs: running, finished, unfinished, failed", parse_filter_state, FOR_LIST | FOR_COMPARE },
	{ "since", 0, "WHEN", false, "Only runs begun since: 7d, 12h, 30m, or 2025-12-24", parse_filter_since, FOR_LIST | FOR_COMPARE },
	{ "sort", 0, "ORDER", false, "By start (default), wall, cpu, memory, or name", parse_order, FOR_LIST },
	{ "limit", 0, "N", false, "At most N runs; 0: all (default 100, of --json all)", parse_limit, FOR_LIST },
	{ "json", 0, NULL, false, "One JSON object a line instead of a table", parse_json, FOR_LIST },
	{ "by", 0, "phase", false, "What each phase used: from one mark to the next", parse_by_phase, FOR_SHOW },
	{ "json", 0, NULL, false, "One JSON object: the lines of kind meta and summary", parse_json, FOR_SHOW },
	{ "older-than", 0, "WHEN", false, "prune: runs begun before: 30d, 12h, or 2025-12-24", parse_older_than, FOR_STORE },
	{ "keep", 0, "N", false, "prune: all but the newest N runs", parse_keep, FOR_STORE },
	{ "max-size", 0, "SIZE", false, "prune: the oldest, until the rest takes 500MiB, 2GiB, ...", parse_max_size, FOR_STORE },
	{ "dry-run", 0, NULL, false, "prune: only say what would go", parse_dry_run, FOR_STORE },
	{ "store", 0, "PATH", false, "The store is this file, not that of the user and host", parse_store, FOR_ANY },
	{ "no-store", 0, NULL, false, "Do not keep the run in the store", parse_no_store, FOR_ALL },
	{ "quiet", 'q', NULL, false, "No summary on stderr", parse_quiet, FOR_ALL },
	{ "verbose", 'v', NULL, false, "Say what is loaded, what is missing, and where the run goes", parse_verbose, FOR_ALL },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", parse_no_args, FOR_ALL },
	{ "wait", 0, "WHAT", false, "Go on until the 'command' (default) or its whole 'tree' has ended", parse_wait, FOR_RUN },
	{ "own-cgroup", 0, NULL, false, "Give the command a cgroup: its peak, page cache and so on", parse_own_cgroup, FOR_RUN },
	{ "marks", 0, NULL, false, "Take marks and metrics of the command: see bpfmon mark --help", parse_marks, FOR_RUN },
	{ "metrics-udp", 0, "PORT", false, "Take metrics on this UDP port of the loopback (0: any)", parse_metrics_udp, FOR_RUN },
	{ "user", 0, "NAME", true, "Run the command as NAME (default: who called sudo)", parse_user, FOR_RUN },
	{ "record-as", 0, "WHO", false, "'root': write outputs with root's rights, not the caller's", parse_record_as, FOR_ALL },
	{ "pid", 'p', "PID", false, "Attach to this process and its descendants; may be repeated", parse_pid, FOR_ATTACH },
	{ "cgroup", 0, "PATH", false, "Attach to who is in this cgroup or below it, now or later", parse_cgroup, FOR_ATTACH },
	{ "container", 0, "NAME", false, "Attach to this container: its name or id, or ENGINE:NAME", parse_container, FOR_ATTACH },
	{ "wait-start", 0, NULL, false, "The cgroup is empty yet: begin with its first process", parse_wait_start, FOR_ATTACH },
	{ "duration", 0, "TIME", false, "Detach after this time: 60, 0.5, 100ms", parse_duration, FOR_ATTACH },
	{ "exact-peak", 0, NULL, false, "Follow the tree's memory event by event, for its exact peak", parse_exact_peak, FOR_ALL },
	{ "max-tasks", 0, "N", false, "Room for N tasks at once (default 8192, more where many run)", parse_max_tasks, FOR_ALL },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", parse_inject_misses, FOR_ALL },
	{ "inject-no-program", 0, "NAME", false, "For tests: refuse an optional program, as in oom__victim", parse_inject_no_program, FOR_ALL },
	{ "by", 0, "TAG", false, "Runs with the same value of this tag are a group", parse_by, FOR_COMPARE },
	{ "baseline", 0, "VALUE", false, "This group, named by its value of the tag, is the first", parse_baseline, FOR_COMPARE },
	{ "fail-if", 0, "EXPRESSION", false, "Exit 1 when it holds: 'rss_peak_bytes > +10%'; may be repeated", parse_fail_if, FOR_COMPARE },
	{ "significant", 0, NULL, false, "Differences that may be noise do not fail", parse_significant, FOR_COMPARE },
	{ "html", 0, "PATH", false, "Draw the runs' curves over each other, as a page for a browser", parse_html, FOR_COMPARE },
	{ "json", 0, NULL, false, "One JSON document instead of tables", parse_json, FOR_COMPARE },
	{ "help", 'h', NULL, false, "Show this help", parse_help, FOR_ANY },
	{ "version", 'V', NULL, false, "Show the version", parse_version, FOR_ANY },
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(NR_ROWS <= MAX_OPTIONS, "room for the rows");

const struct option_row *options_row(size_t i)
{
	return i < NR_ROWS ? &rows[i] : NULL;
}
