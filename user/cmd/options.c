// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/options.h"

#include "base/clock.h"
#include "base/log.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_INTERVAL_NS (10 * NSEC_PER_MSEC)
#define MAX_INTERVAL_SECONDS (7 * 24 * 3600.0)
#define MAX_TASKS_LIMIT (1U << 22)
#define NR_ROWS_MAX 32
#define PSS_PERCENT 2.0
#define MIN_PSS_PERCENT 0.1
#define MAX_PSS_PERCENT 50.0

/* Digits and a point: no blanks, signs, "inf", hexadecimals. */
static int parse_decimal(const char *text, double *value, char **end)
{
	if ((!isdigit((unsigned char)*text) && *text != '.') || strpbrk(text, "xX"))
		return -EINVAL;
	*value = strtod(text, end);
	return *end == text ? -EINVAL : 0;
}

static int parse_interval(struct options *o, const char *text)
{
	char *end;
	double v;

	if (parse_decimal(text, &v, &end))
		return -EINVAL;
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

	return metric_set_parse(&o->wanted, text, &bad, &length);
}

static int parse_pss(struct options *o, const char *text)
{
	double percent = PSS_PERCENT;
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
FLAG(help)
FLAG(version)

/* clang-format off */
static const struct option_row rows[] = {
	{ "interval", 'i', "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", parse_interval },
	{ "output", 'o', "[FORMAT:]PATH", false, "Write the run to PATH (- for stdout); may be repeated", parse_output },
	{ "format", 'f', "FORMAT", false, "Format of outputs that name none: text, jsonl, csv", parse_format },
	{ "metrics", 0, "LIST", false, "Only these groups or keys, as in cpu,io,rss_bytes", parse_metrics },
	{ "pss", 0, "PERCENT", true, "Read PSS and USS, in 0.1 to 50 % of the time (default 2)", parse_pss },
	{ "force", 0, NULL, false, "Replace output files that exist", parse_force },
	{ "quiet", 'q', NULL, false, "No summary on stderr", parse_quiet },
	{ "verbose", 'v', NULL, false, "Say what bpfmon does", parse_verbose },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", parse_no_args },
	{ "wait", 0, "WHAT", false, "Go on until the 'command' (default) or its whole 'tree' has ended", parse_wait },
	{ "user", 0, "NAME", true, "Run the command as NAME (default: who called sudo)", parse_user },
	{ "record-as", 0, "WHO", false, "'root': write outputs with root's rights, not the caller's", parse_record_as },
	{ "max-tasks", 0, "N", false, "Room for N tasks at once (default 8192, more where many run)", parse_max_tasks },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", parse_inject_misses },
	{ "help", 'h', NULL, false, "Show this help", parse_help },
	{ "version", 'V', NULL, false, "Show the version", parse_version },
};
/* clang-format on */
#define NR_ROWS (sizeof(rows) / sizeof(*rows))
_Static_assert(NR_ROWS < NR_ROWS_MAX, "room for the rows");

const struct option_row *options_row(size_t i)
{
	return i < NR_ROWS ? &rows[i] : NULL;
}

static int apply(struct options *o, const struct option_row *row, const char *text,
		 const char *shown_as)
{
	if (!row->parse(o, text))
		return 0;
	log_error("%s does not take '%s': %s", shown_as, text, row->help);
	return -EINVAL;
}

/* BPFMON_INTERVAL and so on: what the command line says comes later and wins. */
static int parse_environment(struct options *o)
{
	for (size_t i = 0; i < NR_ROWS; i++) {
		char name[64] = "BPFMON_";
		size_t n = strlen(name);
		const char *text;
		int err;

		for (const char *c = rows[i].name; *c; c++)
			name[n++] = (char)(*c == '-' ? '_' : toupper((unsigned char)*c));
		text = getenv(name);
		if (!text || !*text || rows[i].parse == parse_help ||
		    rows[i].parse == parse_version)
			continue;
		if (!rows[i].argument && strcmp(text, "0") == 0)
			continue;
		err = apply(o, &rows[i], text, name);
		if (err)
			return err;
	}
	return 0;
}

static void getopt_tables(char *letters, struct option *longs)
{
	*letters++ = '+'; /* the first word that is no option begins the command */
	*letters++ = ':';
	for (size_t i = 0; i < NR_ROWS; i++) {
		longs[i] = (struct option){
			.name = rows[i].name,
			.has_arg = !rows[i].argument              ? no_argument
				   : rows[i].argument_is_optional ? optional_argument
								  : required_argument,
			.val = 256 + (int)i,
		};
		if (!rows[i].key)
			continue;
		*letters++ = rows[i].key;
		if (rows[i].argument)
			*letters++ = ':';
	}
	*letters = '\0';
	longs[NR_ROWS] = (struct option){ 0 };
}

static const struct option_row *row_of(int found)
{
	if (found >= 256)
		return &rows[found - 256];
	for (size_t i = 0; i < NR_ROWS; i++)
		if (rows[i].key == found)
			return &rows[i];
	return NULL;
}

static int usage(const char *what, const char *text)
{
	log_error("%s '%s'; see bpfmon --help", what, text);
	return -EINVAL;
}

static int parse_line(struct options *o, int argc, char **argv)
{
	char letters[NR_ROWS_MAX * 2 + 3], name[64];
	struct option longs[NR_ROWS_MAX];
	int found;

	getopt_tables(letters, longs);
	optind = 1;
	while ((found = getopt_long(argc, argv, letters, longs, NULL)) != -1) {
		const struct option_row *row;

		if (found == ':')
			return usage("a value is missing after", argv[optind - 1]);
		if (found == '?' && optopt >= 256)
			return usage("no value is taken by", argv[optind - 1]);
		if (found == '?' && optopt) {
			snprintf(name, sizeof(name), "-%c", optopt);
			return usage("there is no option", name);
		}
		if (found == '?')
			return usage("there is no option", argv[optind - 1]);
		row = row_of(found);
		snprintf(name, sizeof(name), "--%s", row->name);
		if (apply(o, row, optarg, name))
			return -EINVAL;
	}
	o->command = argv + optind;
	return 0;
}

/* FORMAT:PATH, where FORMAT is known; else --format, else the extension, else jsonl. */
static int resolve_outputs(struct options *o)
{
	for (size_t i = 0; i < o->nr_outputs; i++) {
		struct recorder_output *out = &o->outputs[i];
		const char *text = o->output_text[i], *colon = strchr(text, ':');

		out->path = text;
		out->format = colon ? sink_find(text, (size_t)(colon - text)) : NULL;
		if (out->format)
			out->path = colon + 1;
		else if (o->format)
			out->format = sink_find(o->format, strlen(o->format));
		else
			out->format = sink_for_path(text);
		if (!out->format)
			out->format = &jsonl_sink;
		if (!*out->path)
			return usage("a path is missing in --output", text);
	}
	if (o->format && !o->nr_outputs) {
		log_error("--format says how, but no --output says where; try -o run.%s",
			  o->format);
		return -EINVAL;
	}
	return 0;
}

/* Naming one of the metrics asks for the reading, and asking for that for all of them. */
static void resolve_pss(struct options *o)
{
	bool is_named = metric_set_has_source(&o->wanted, SOURCE_PROCFS);

	if (o->pss_ppm && !is_named)
		metric_set_put_source(&o->wanted, SOURCE_PROCFS);
	else if (is_named && !o->pss_ppm)
		o->pss_ppm = (unsigned)lround(PSS_PERCENT * 10000);
}

int options_parse(struct options *o, int argc, char **argv)
{
	*o = (struct options){ .interval_ns = NSEC_PER_SEC };
	metric_set_default(&o->wanted);
	if (parse_environment(o) || parse_line(o, argc, argv))
		return -EINVAL;
	if (o->help || o->version) {
		o->command = NULL;
		return 0;
	}
	if (!*o->command) {
		log_error("no command was given; try: bpfmon -- sleep 1");
		return -EINVAL;
	}
	resolve_pss(o);
	return resolve_outputs(o);
}

void options_help(void)
{
	puts("Usage: bpfmon [OPTIONS] -- COMMAND [ARG...]\n"
	     "       bpfmon check      what this machine offers\n"
	     "       bpfmon metrics    what is measured\n\n"
	     "Runs COMMAND and accounts for every process it causes to exist.\n");
	for (size_t i = 0; i < NR_ROWS; i++) {
		char left[64];
		int n = rows[i].key ? snprintf(left, sizeof(left), "-%c, ", rows[i].key)
				    : snprintf(left, sizeof(left), "    ");

		n += snprintf(left + n, sizeof(left) - (size_t)n, "--%s", rows[i].name);
		if (rows[i].argument)
			snprintf(left + n, sizeof(left) - (size_t)n,
				 rows[i].argument_is_optional ? "[=%s]" : " %s", rows[i].argument);
		printf("  %-30s %s\n", left, rows[i].help);
	}
	puts("\nEvery option has an environment variable: BPFMON_INTERVAL, BPFMON_NO_ARGS=1, ...\n"
	     "Exit status: the command's; 125 bpfmon failed, 126 not executable, 127 not found.");
}
