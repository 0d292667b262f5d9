// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon check: what this machine offers, capability by capability. */
#include "cmd/subcommand.h"

#include "base/log.h"
#include "track/tracker.h"

#include "track/capability.h"

#include <stdio.h>
#include <string.h>

static void check_print(void *context, const char *name, bool available, const char *why)
{
	bool *all = context;

	*all &= available;
	printf("%-36s %s%s%s\n", name, available ? "available" : "missing", available ? "" : ": ",
	       available ? "" : why);
}

static void check_print_optional(const struct optionals *x, bool *all)
{
	const struct optional_row *row;

	for (size_t i = 0; (row = optional_row(i)); i++) {
		if (OPTIONAL_OF_CGROUP & OPTIONAL_BIT(i)) /* not tried: there is no cgroup */
			check_print(all, row->title, row->has(), row->needs);
		else
			check_print(all, row->title, !x->missing[i][0], x->missing[i]);
	}
}

/* Loading and attaching the programs is the only reliable check. */
static bool check_loading(void)
{
	struct tracker_options o = { .exact_peak = true };
	struct tracker t;
	char why[512] = "";
	bool all = true;
	int err;

	metric_set_all(&o.wanted);
	metric_set_clear_source(&o.wanted, SOURCE_CGROUP); /* there is no cgroup to read */
	err = tracker_open(&t, &o, why, sizeof(why));
	check_print(&all, "following processes", !err, why);
	if (!err)
		check_print_optional(&t.optional, &all);
	for (int i = 0; !err && i < NR_METRICS; i++)
		if (metric_has(&o.wanted, (enum metric_id)i))
			check_print(&all, metric_get((enum metric_id)i)->key,
				    metric_has(&t.usable, (enum metric_id)i), t.unusable[i]);
	if (!err)
		tracker_close(&t);
	return !err;
}

static int cmd_check(int argc, char **argv)
{
	bool all = true;

	(void)argv;
	if (argc > 1) {
		log_error("check takes no arguments");
		return EXIT_USAGE;
	}
	capability_each(check_print, &all);
	return check_loading() ? 0 : 1;
}

const struct subcommand subcommand_check = {
	.name = "check",
	.summary = "what this machine offers",
	.part = PART_INFORMS,
	.run = cmd_check,
	.loads_programs = true,
};
