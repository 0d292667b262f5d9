// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon metrics: prints the table of metrics. */
#include "options/common_options.h"

#include "base/exit_status.h"
#include "base/json.h"
#include "base/log.h"
#include "run/metric.h"
#include "bpfmon/subcommands.h"

#include <stdio.h>

struct metrics_options {
	struct common_options common;
	enum print_format as;
};

/* clang-format off */
#define AT(field) offsetof(struct metrics_options, field)

static const struct option_row metrics_rows[] = {
	{ "format", 'f', "FORMAT", false, "Output format: text (default), or json, one object per line", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

static const struct option_group metrics_groups[] = {
	{ metrics_rows, 0, false },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int metrics_parse_options(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_metrics, options, argc, argv);
}

static void metrics_help(void)
{
	puts("Usage: bpfmon metrics [OPTIONS]\n"
	     "\n"
	     "Lists the metrics of a sample: key, unit, group and kind. --metrics accepts keys "
	     "and\n"
	     "groups. A counter only grows; a gauge is the value at the time of the sample.\n");
	options_print(&subcommand_metrics);
	puts("Exit status: 0: success, 2: usage error.");
}

static const char *metric_kind_name(enum metric_kind kind)
{
	return kind == KIND_COUNTER ? "counter" : "gauge";
}

static void metric_print_json(const struct metric *m)
{
	struct jsonw j = { 0 };

	jsonw_object(&j, NULL);
	jsonw_schema(&j, "metrics");
	jsonw_string(&j, "key", m->key);
	jsonw_string(&j, "unit", metric_unit_name(m->unit));
	jsonw_string(&j, "group", metric_group_name(m->group));
	jsonw_string(&j, "kind", metric_kind_name(m->kind));
	jsonw_string(&j, "help", m->help);
	jsonw_object_end(&j);
	jsonw_newline(&j);
	jsonw_print(&j, stdout);
}

static int cmd_metrics(int argc, char **argv)
{
	struct metrics_options o;
	int go_on = options_begin(&subcommand_metrics, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (o.as == PRINT_TEXT)
		printf("%-36s %-6s %-6s %-8s %s\n", "KEY", "UNIT", "GROUP", "KIND", "HELP");
	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);

		if (o.as == PRINT_JSON)
			metric_print_json(m);
		else
			printf("%-36s %-6s %-6s %-8s %s\n", m->key, metric_unit_name(m->unit),
			       metric_group_name(m->group), metric_kind_name(m->kind), m->help);
	}
	return 0;
}

const struct subcommand subcommand_metrics = {
	.name = "metrics",
	.summary = "list all metrics",
	.part = PART_INFORMS,
	.run = cmd_metrics,
	.groups = metrics_groups,
	.options_bytes = sizeof(struct metrics_options),
	.parse = metrics_parse_options,
	.help = metrics_help,
};
