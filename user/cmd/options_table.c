// SPDX-License-Identifier: BSD-2-Clause
/* The rows, and what each takes. */
#include "cmd/options.h"

#include "base/clock.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define MAX_INTERVAL_SECONDS (7 * 24 * 3600.0)
#define MAX_TASKS_LIMIT (1U << 22)

static int parse_interval(struct options *o, const char *text)
{
	char *end;
	double v;

	if ((!isdigit((unsigned char)*text) && *text != '.') || strpbrk(text, "xX"))
		return -EINVAL; /* nor blanks, signs, "inf", hexadecimals */
	v = strtod(text, &end);
	if (!strcmp(end, "ms"))
		v /= 1000;
	else if (*end && strcmp(end, "s") != 0)
		return -EINVAL;
	if (!isfinite(v) || v > MAX_INTERVAL_SECONDS ||
	    llround(v * 1e9) < (long long)MIN_INTERVAL_NS)
		return -EINVAL;
	o->interval_ns = (uint64_t)llround(v * 1e9);
	return 0;
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

static int parse_metrics(struct options *o, const char *text)
{
	const char *bad;
	size_t length;

	o->chooses_metrics = true;
	return metric_set_parse(&o->wanted, text, &bad, &length);
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

static int parse_max_tasks(struct options *o, const char *text)
{
	return parse_number(text, MAX_TASKS_LIMIT, &o->max_tasks);
}

static int parse_inject_misses(struct options *o, const char *text)
{
	return parse_number(text, 999, &o->inject_misses);
}

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
FLAG(help)
FLAG(version)

/* clang-format off */
static const struct option_row rows[] = {
	{ "interval", 'i', "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", parse_interval },
	{ "output", 'o', "[FORMAT:]PATH", false, "Write the run to PATH (- for stdout); may be repeated", parse_output },
	{ "format", 'f', "FORMAT", false, "Format of outputs that name none: text, jsonl, csv", parse_format },
	{ "metrics", 0, "LIST", false, "Only these groups or keys, as in cpu,io,rss_bytes", parse_metrics },
	{ "force", 0, NULL, false, "Replace output files that exist", parse_force },
	{ "quiet", 'q', NULL, false, "No summary on stderr", parse_quiet },
	{ "verbose", 'v', NULL, false, "Say what is loaded, what is missing, and where the run goes", parse_verbose },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", parse_no_args },
	{ "wait", 0, "WHAT", false, "Go on until the 'command' (default) or its whole 'tree' has ended", parse_wait },
	{ "own-cgroup", 0, NULL, false, "Give the command a cgroup: its peak, page cache and so on", parse_own_cgroup },
	{ "user", 0, "NAME", true, "Run the command as NAME (default: who called sudo)", parse_user },
	{ "record-as", 0, "WHO", false, "'root': write outputs with root's rights, not the caller's", parse_record_as },
	{ "exact-peak", 0, NULL, false, "Follow the tree's memory event by event, for its exact peak", parse_exact_peak },
	{ "max-tasks", 0, "N", false, "Room for N tasks at once (default 8192, more where many run)", parse_max_tasks },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", parse_inject_misses },
	{ "help", 'h', NULL, false, "Show this help", parse_help },
	{ "version", 'V', NULL, false, "Show the version", parse_version },
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(NR_ROWS <= MAX_OPTIONS, "room for the rows");

const struct option_row *options_row(size_t i)
{
	return i < NR_ROWS ? &rows[i] : NULL;
}
