// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon metrics: the table of what is measured. */
#include "cmd/subcommand.h"

#include "base/log.h"
#include "model/metric.h"

#include <stdio.h>

static const char *metric_kind_name(enum metric_kind kind)
{
	return kind == KIND_COUNTER ? "counter" : "gauge";
}

static int cmd_metrics(int argc, char **argv)
{
	(void)argv;
	if (argc > 1) {
		log_error("metrics takes no arguments");
		return EXIT_USAGE;
	}
	printf("%-36s %-6s %-6s %-8s %s\n", "KEY", "UNIT", "GROUP", "KIND", "HELP");
	for (int i = 0; i < NR_METRICS; i++) {
		const struct metric *m = metric_get((enum metric_id)i);

		printf("%-36s %-6s %-6s %-8s %s\n", m->key, metric_unit_name(m->unit),
		       metric_group_name(m->group), metric_kind_name(m->kind), m->help);
	}
	return 0;
}

const struct subcommand subcommand_metrics = {
	.name = "metrics",
	.summary = "what is measured",
	.part = PART_INFORMS,
	.run = cmd_metrics,
};
