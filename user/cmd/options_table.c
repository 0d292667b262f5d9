// SPDX-License-Identifier: BSD-2-Clause
/* The rows. */
#include "cmd/filter.h"
#include "cmd/reading.h"
#include "cmd/run_tags.h"
#include "cmd/values.h"

#define FLAG(field)                                                                                \
	static int parse_##field(struct options *o, const char *text)                              \
	{                                                                                          \
		(void)text;                                                                        \
		o->field = true;                                                                   \
		return 0;                                                                          \
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
	{ "interval", 'i', "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", parse_interval, FOR_ALL, GUARD_NONE },
	{ "output", 'o', "[FORMAT:]PATH", false, "Write the run to PATH (- for stdout); may be repeated", parse_output, FOR_ALL, GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "Format of outputs that name none: text, jsonl, csv", parse_format, FOR_ALL, GUARD_NONE },
	{ "metrics", 0, "LIST", false, "Only these groups or keys, as in cpu,io,rss_bytes", parse_metrics, FOR_ALL, GUARD_NONE },
	{ "pss", 0, "PERCENT", true, "Read PSS and USS, in 0.1 to 50 % of the time (default 2)", parse_pss, FOR_ALL, GUARD_NONE },
	{ "process-samples", 0, "N", false, "At each sample also the N heaviest processes (up to 1000)", parse_process_samples, FOR_ALL, GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "One of jsonl, csv, json, influx ...; export --help lists all", parse_export_format, FOR_EXPORT, GUARD_NONE },
	{ "output", 'o', "PATH", false, "Write to PATH, not to stdout", parse_export_path, FOR_EXPORT, GUARD_ENVIRONMENT },
	{ "force", 0, NULL, false, "Replace output files that exist", parse_force, FOR_ALL | FOR_EXPORT | FOR_REPORT | FOR_COMPARE, GUARD_ENVIRONMENT },
	{ "output", 'o', "PATH", false, "Where the report goes, - for stdout (default: RUN.html)", parse_report_path, FOR_REPORT, GUARD_ENVIRONMENT },
	{ "format", 'f', "FORMAT", false, "html (default), or svg: the charts as one picture", parse_report_format, FOR_REPORT, GUARD_NONE },
	{ "name", 0, "NAME", false, "Name the run, to find it again", parse_name, FOR_ALL, GUARD_NONE },
	{ "job", 0, "ID", false, "The job that the run belongs to, as a scheduler numbers it", parse_job, FOR_ALL, GUARD_NONE },
	{ "tag", 0, "KEY=VALUE", false, "Tag the run; may be repeated", parse_tag, FOR_ALL, GUARD_NONE },
	{ "name", 0, "NAME", false, "Only runs of this name; * and ? stand for anything", parse_name, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "job", 0, "ID", false, "Only runs of this job", parse_job, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "tag", 0, "KEY[=VALUE]", false, "Only runs with this tag; may be repeated", parse_filter_tag, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "command", 0, "TEXT", false, "Only runs whose command holds this text", parse_filter_command, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "host", 0, "NAME", false, "Only runs on this host; * and ? stand for anything", parse_filter_host, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "user", 0, "NAME", false, "Only runs of this user", parse_filter_user, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "state", 0, "STATE", false, "Only runs: running, finished, unfinished, failed", parse_filter_state, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "since", 0, "WHEN", false, "Only runs begun since: 7d, 12h, 30m, or 2025-12-24", parse_filter_since, FOR_LIST | FOR_COMPARE, GUARD_NONE },
	{ "sort", 0, "ORDER", false, "By start (default), wall, cpu, memory, or name", parse_order, FOR_LIST, GUARD_NONE },
	{ "limit", 0, "N", false, "At most N runs; 0: all (default 100, of --json all)", parse_limit, FOR_LIST, GUARD_NONE },
	{ "json", 0, NULL, false, "One JSON object a line instead of a table", parse_json, FOR_LIST, GUARD_NONE },
	{ "by", 0, "phase", false, "What each phase used: from one mark to the next", parse_by_phase, FOR_SHOW, GUARD_NONE },
	{ "json", 0, NULL, false, "One JSON object: the lines of kind meta and summary", parse_json, FOR_SHOW, GUARD_NONE },
	{ "older-than", 0, "WHEN", false, "prune: runs begun before: 30d, 12h, or 2025-12-24", parse_older_than, FOR_STORE, GUARD_NONE },
	{ "keep", 0, "N", false, "prune: all but the newest N runs", parse_keep, FOR_STORE, GUARD_NONE },
	{ "max-size", 0, "SIZE", false, "prune: the oldest, until the rest takes 500MiB, 2GiB, ...", parse_max_size, FOR_STORE, GUARD_NONE },
	{ "dry-run", 0, NULL, false, "prune: only say what would go", parse_dry_run, FOR_STORE, GUARD_NONE },
	{ "store", 0, "PATH", false, "The store is this file, not that of the user and host", parse_store, FOR_ANY, GUARD_ENVIRONMENT },
	{ "no-store", 0, NULL, false, "Do not keep the run in the store", parse_no_store, FOR_ALL, GUARD_NONE },
	{ "quiet", 'q', NULL, false, "No summary on stderr", parse_quiet, FOR_ALL, GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Say what is loaded, what is missing, and where the run goes", parse_verbose, FOR_ALL, GUARD_NONE },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", parse_no_args, FOR_ALL, GUARD_NONE },
	{ "wait", 0, "WHAT", false, "Go on until the 'command' (default) or its whole 'tree' has ended", parse_wait, FOR_RUN, GUARD_NONE },
	{ "own-cgroup", 0, NULL, false, "Give the command a cgroup: its peak, page cache and so on", parse_own_cgroup, FOR_RUN, GUARD_ENVIRONMENT },
	{ "marks", 0, NULL, false, "Take marks and metrics of the command: see bpfmon mark --help", parse_marks, FOR_RUN, GUARD_NONE },
	{ "metrics-udp", 0, "PORT", false, "Take metrics on this UDP port of the loopback (0: any)", parse_metrics_udp, FOR_RUN, GUARD_ENVIRONMENT },
	{ "user", 0, "NAME", true, "Run the command as NAME (default: who called sudo)", parse_user, FOR_RUN, GUARD_USER },
	{ "record-as", 0, "WHO", false, "'root': write outputs with root's rights, not the caller's", parse_record_as, FOR_ALL, GUARD_USER },
	{ "pid", 'p', "PID", false, "Attach to this process and its descendants; may be repeated", parse_pid, FOR_ATTACH, GUARD_ENVIRONMENT },
	{ "cgroup", 0, "PATH", false, "Attach to who is in this cgroup or below it, now or later", parse_cgroup, FOR_ATTACH, GUARD_ENVIRONMENT },
	{ "container", 0, "NAME", false, "Attach to this container: its name or id, or ENGINE:NAME", parse_container, FOR_ATTACH, GUARD_ENVIRONMENT },
	{ "wait-start", 0, NULL, false, "The cgroup is empty yet: begin with its first process", parse_wait_start, FOR_ATTACH, GUARD_NONE },
	{ "duration", 0, "TIME", false, "Detach after this time: 60, 0.5, 100ms", parse_duration, FOR_ATTACH, GUARD_NONE },
	{ "exact-peak", 0, NULL, false, "Follow the tree's memory event by event, for its exact peak", parse_exact_peak, FOR_ALL, GUARD_NONE },
	{ "max-tasks", 0, "N", false, "Room for N tasks at once (default 8192 to 32768, or more)", parse_max_tasks, FOR_ALL, GUARD_NONE },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", parse_inject_misses, FOR_ALL, GUARD_TEST },
	{ "inject-no-program", 0, "NAME", false, "For tests: refuse an optional program, as in oom__victim", parse_inject_no_program, FOR_ALL, GUARD_TEST },
	{ "by", 0, "TAG", false, "Runs with the same value of this tag are a group", parse_by, FOR_COMPARE, GUARD_NONE },
	{ "baseline", 0, "VALUE", false, "This group, named by its value of the tag, is the first", parse_baseline, FOR_COMPARE, GUARD_NONE },
	{ "fail-if", 0, "EXPRESSION", false, "Exit 1 when it holds: 'rss_peak_bytes > +10%'; may be repeated", parse_fail_if, FOR_COMPARE, GUARD_NONE },
	{ "significant", 0, NULL, false, "Differences that may be noise do not fail", parse_significant, FOR_COMPARE, GUARD_NONE },
	{ "html", 0, "PATH", false, "Draw the runs' curves over each other, as a page for a browser", parse_html, FOR_COMPARE, GUARD_ENVIRONMENT },
	{ "json", 0, NULL, false, "One JSON document instead of tables", parse_json, FOR_COMPARE, GUARD_NONE },
	{ "help", 'h', NULL, false, "Show this help", parse_help, FOR_ANY, GUARD_NONE },
	{ "version", 'V', NULL, false, "Show the version", parse_version, FOR_ANY, GUARD_NONE },
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(NR_ROWS <= MAX_OPTIONS, "room for the rows");

const struct option_row *options_row(size_t i)
{
	return i < NR_ROWS ? &rows[i] : NULL;
}
