// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon agent: tracks all processes of the machine for its users. */
#include "options/common_options.h"
#include "options/option_values.h"

#include "agent/agent.h"
#include "agent/porter.h"
#include "agent/rules.h"
#include "base/exit_status.h"
#include "base/clock.h"
#include "base/log.h"
#include "agent/history.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct agent_command {
	struct common_options common;
	const char *config; /* NULL if not given */
	unsigned inject_misses;
	bool check, sample, verbose;
};

static int misses_parse(void *misses, const char *text)
{
	return number_parse(text, 0, 1000, misses);
}

/* clang-format off */
#define AT(field) offsetof(struct agent_command, field)

static const struct option_row agent_rows[] = {
	{ "config", 0, "FILE", false, "Configuration file (default " CONFIG_PATH ")", text_parse, AT(config), GUARD_NONE },
	{ "check", 0, NULL, false, "Check the configuration and exit", flag_parse, AT(check), GUARD_NONE },
	{ "sample", 0, NULL, false, "Print a configuration file with all keys and exit", flag_parse, AT(sample), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Report refused clients and unavailable features", flag_parse, AT(verbose), GUARD_NONE },
	{ "inject-misses", 0, "N", false, "For tests: ignore N of 1000 kernel events", misses_parse, AT(inject_misses), GUARD_TEST },
	{ 0 }
};
/* clang-format on */

static const struct option_group agent_groups[] = {
	{ agent_rows, 0, false },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int agent_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_agent, options, argc, argv);
}

static void agent_help(void)
{
	puts("Usage: bpfmon agent [OPTIONS]\n"
	     "\n"
	     "Measures all processes of this machine, grouped into jobs by their cgroups. Users\n"
	     "measure commands and their own processes through its socket, without sudo:\n"
	     "bpfmon -- COMMAND. SIGTERM stops the agent; SIGHUP makes it read its configuration\n"
	     "again.\n");
	options_print(&subcommand_agent);
	puts("Exit status: 0: success, 2: usage error, invalid configuration, or startup failure.");
}

static int config_check(const struct agent_command *o)
{
	char why[CONFIG_WHY_BYTES];
	struct agent_config c;
	struct rules *rules;
	int err = config_read(o->config, &c, why, sizeof(why));

	if (!err) {
		err = rules_open(&c, &rules, why, sizeof(why));
		if (!err)
			rules_close(rules);
		config_done(&c);
	}
	if (err)
		log_error("%s", why);
	else
		printf("the configuration is valid: %s\n",
		       o->config ? o->config : CONFIG_PATH " (or the defaults)");
	return err ? EXIT_USAGE : 0;
}

/*
 * Starts the historian, before the agent opens anything that the child would inherit. A wrong
 * configuration is reported by the agent, which reads it as well.
 */
static void history_begin(const struct agent_command *o, struct history *h)
{
	static struct agent_config c; /* must live as long as the historian */
	static struct history_options options;
	char why[CONFIG_WHY_BYTES];

	*h = (struct history){ -1, -1 };
	if (config_read(o->config, &c, why, sizeof(why)) || !*c.store)
		return;
	options = (struct history_options){ .store = c.store,
					    .socket = c.socket,
					    .keep_ns = c.keep_days * 24 * 3600 * NSEC_PER_SEC,
					    .keep_bytes = c.keep_bytes,
					    .min_ns = c.min_ns };
	if (history_start(&options, h, why, sizeof(why)))
		log_warn("jobs are not saved in the history: %s", why);
}

static int agent_execute(const struct agent_command *o)
{
	struct history h;
	struct agent_options options;
	struct porter_link porter;
	int err;

	err = porter_start(&porter); /* first: it inherits nothing of the others */
	if (err) {
		log_error("cannot start the porter process of the agent: %s", strerror(-err));
		return EXIT_USAGE;
	}
	history_begin(o, &h);
	options = (struct agent_options){ .config = o->config,
					  .inject_misses = o->inject_misses,
					  .verbose = o->verbose,
					  .porter = porter,
					  .history_stream_fd = h.stream_fd,
					  .history_control_fd = h.control_fd };
	err = agent_run(&options);
	history_end(&h);
	return err ? EXIT_USAGE : 0;
}

static int cmd_agent(int argc, char **argv)
{
	struct agent_command o;
	int go_on = options_begin(&subcommand_agent, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	log_set_level(o.verbose ? LOG_VERBOSE : LOG_NORMAL);
	if (o.sample) {
		config_print_sample(stdout);
		return 0;
	}
	if (o.check)
		return config_check(&o);
	return agent_execute(&o);
}

const struct subcommand subcommand_agent = {
	.name = "agent",
	.summary = "measure the whole machine, for all of its users",
	.part = PART_RECORDS,
	.is_role = true,
	.run = cmd_agent,
	.groups = agent_groups,
	.options_bytes = sizeof(struct agent_command),
	.parse = agent_parse,
	.help = agent_help,
};
