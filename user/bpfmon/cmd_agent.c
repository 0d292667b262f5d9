// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon agent: tracks all processes of the machine for its users. */
#include "options/common_options.h"
#include "options/option_values.h"

#include "agent/agent.h"
#include "agent/porter.h"
#include "agent/rules.h"
#include "base/agent_socket.h"
#include "base/clock.h"
#include "base/exit_status.h"
#include "base/jansson_memory.h"
#include "base/log.h"
#include "base/memory.h"
#include "agent/history.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/subcommands.h"
#include "run/agent_call.h"
#include "text/format.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct agent_command {
	struct common_options common;
	const char *config, *socket; /* NULL if not given */
	unsigned inject_misses;
	struct refusals refusals;
	bool check, sample, rules, status, alive, json, verbose, hands_over;
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
	{ "status", 0, NULL, false, "Show the state of the running agent", flag_parse, AT(status), GUARD_NONE },
	{ "alive", 0, NULL, false, "Exit with 0 if the running agent answers, even if it is degraded", flag_parse, AT(alive), GUARD_NONE },
	{ "socket", 0, "SOCKET", false, "Agent to ask (default: by --config, or " AGENT_SOCKET ")", text_parse, AT(socket), GUARD_NONE },
	{ "json", 0, NULL, false, "With --status: print the agent's line as JSON", flag_parse, AT(json), GUARD_NONE },
	{ "sample", 0, NULL, false, "Print a configuration file with all keys and exit", flag_parse, AT(sample), GUARD_NONE },
	{ "rules", 0, NULL, false, "Print the built-in rules, which make jobs of cgroups, and exit", flag_parse, AT(rules), GUARD_NONE },
	{ "hand-over", 0, NULL, false, "When stopped, leave runs to the next agent, through systemd", flag_parse, AT(hands_over), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Report refused clients and unavailable features", flag_parse, AT(verbose), GUARD_NONE },
	{ "inject-no-program", 0, "NAME", false, "For tests: refuse a program, or all of a type, as in fexit", inject_no_program_parse, AT(refusals), GUARD_TEST },
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
	puts("Exit status: 0: success, 1: the running agent is degraded: it loses data, or did "
	     "within\n"
	     "the last hour, 2: usage error, invalid configuration, startup failure, or no answer\n"
	     "of a running agent.");
}

static int config_check(const struct agent_command *o)
{
	char why[CONFIG_WHY_BYTES];
	struct agent_config c;
	struct rules *rules;
	int err = config_read(o->config, &c, why, sizeof(why));

	if (!err)
		err = rules_open(&c, &rules, why, sizeof(why));
	if (err) {
		log_error("%s", why);
	} else {
		rules_close(rules);
		fputs("the configuration is valid:", stdout);
		for (size_t i = 0; i < c.nr_files; i++)
			printf("%s %s", i ? "," : "", c.files[i]);
		puts(c.nr_files ? "" : " the defaults");
	}
	config_done(&c);
	return err ? EXIT_USAGE : 0;
}

/*
 * Starts the historian, before the agent opens anything that the child would inherit. A wrong
 * configuration is reported by the agent, which reads it as well. Returns why no history is kept,
 * although it is configured, or NULL.
 */
static const char *history_begin(const struct agent_command *o, struct history *h)
{
	static struct agent_config c; /* must live as long as the historian */
	static struct history_options options;
	static char why[CONFIG_WHY_BYTES];

	*h = (struct history){ -1, -1 };
	if (config_read(o->config, &c, why, sizeof(why)) || !*c.store)
		return NULL;
	options = (struct history_options){ .store = c.store,
					    .socket = c.socket,
					    .keep_ns = c.keep_days * 24 * 3600 * NSEC_PER_SEC,
					    .keep_bytes = c.keep_bytes,
					    .min_ns = c.min_ns };
	if (!history_start(&options, h, why, sizeof(why)))
		return NULL;
	log_warn("jobs are not saved in the history: %s", why);
	return why;
}

static int agent_execute(const struct agent_command *o)
{
	struct history h;
	struct agent_options options;
	struct porter_link porter;
	const char *no_history;
	int err;

	err = porter_start(&porter); /* first: it inherits nothing of the others */
	if (err) {
		log_error("cannot start the porter process of the agent: %s", strerror(-err));
		return EXIT_USAGE;
	}
	no_history = history_begin(o, &h);
	options = (struct agent_options){ .config = o->config,
					  .inject_misses = o->inject_misses,
					  .refusals = o->refusals,
					  .verbose = o->verbose,
					  .hands_over = o->hands_over,
					  .porter = porter,
					  .history_stream_fd = h.stream_fd,
					  .history_control_fd = h.control_fd,
					  .no_history = no_history };
	err = agent_run(&options);
	history_end(&h);
	return err ? EXIT_USAGE : 0;
}

/* The state of a running agent, from its line about itself. */

#define EXIT_DEGRADED 1

static uint64_t member_scaled(const json_t *o, const char *key, double factor)
{
	return (uint64_t)(json_number_value(json_object_get(o, key)) * factor);
}

static void losses_print(const json_t *losses)
{
	const char *name;
	json_t *value;
	bool is_any = false;

	printf("losses     ");
	json_object_foreach((json_t *)losses, name, value) {
		if (!json_integer_value(value))
			continue;
		printf("%s%s %lld", is_any ? ", " : "", name, json_integer_value(value));
		is_any = true;
	}
	puts(is_any ? "" : "none");
}

static void history_print(const json_t *history)
{
	if (!history) {
		puts("history    not kept");
		return;
	}
	printf("history    jobs saved %llu, lost %llu; lines lost %llu\n",
	       (unsigned long long)member_scaled(history, "runs", 1),
	       (unsigned long long)member_scaled(history, "runs_lost", 1),
	       (unsigned long long)member_scaled(history, "lines_dropped", 1));
}

static void notices_print_each(const json_t *all)
{
	const json_t *one;
	size_t i;

	json_array_foreach(all, i, one) {
		fputs("warning: ", stdout);
		format_name(stdout, json_string_value(one) ? json_string_value(one) : "",
			    TEXT_UNCUT);
		putchar('\n');
	}
}

static void status_print(const json_t *o, bool is_degraded)
{
	const uint64_t start_ns = member_scaled(o, "start_time", NSEC_PER_SEC);
	const uint64_t cpu_ns = member_scaled(o, "cpu_seconds", NSEC_PER_SEC);
	const uint64_t now_ns = clock_ns(CLOCK_REALTIME);
	const uint64_t age_ns = now_ns > start_ns ? now_ns - start_ns : 1;
	const char *version = json_string_value(json_object_get(o, "version"));
	const char *hierarchy = json_string_value(json_object_get(o, "hierarchy"));
	char a[MOMENT_BYTES], b[FORMAT_BYTES], c[FORMAT_BYTES];

	printf("agent      %s, version %s, since %s (%s)\n", is_degraded ? "degraded" : "healthy",
	       version ? version : "-", format_moment(a, start_ns, true),
	       format_seconds(b, age_ns));
	printf("hierarchy  %s, a sample every %s\n", hierarchy ? hierarchy : "-",
	       format_seconds(b, member_scaled(o, "interval_seconds", NSEC_PER_SEC)));
	printf("jobs       %llu, runs %llu, clients %llu\n",
	       (unsigned long long)member_scaled(o, "jobs", 1),
	       (unsigned long long)member_scaled(o, "runs", 1),
	       (unsigned long long)member_scaled(o, "clients", 1));
	printf("cost       %.2f %% of a core, ", 100.0 * (double)cpu_ns / (double)age_ns);
	printf("%s resident, %s in the kernel\n", format_bytes(b, member_scaled(o, "rss_bytes", 1)),
	       format_bytes(c, member_scaled(o, "map_bytes", 1)));
	losses_print(json_object_get(o, "losses"));
	history_print(json_object_get(o, "history"));
	notices_print_each(json_object_get(o, "notices"));
}

/* Shows the line, an object of @length bytes. Returns the exit status. */
static int status_line_show(const struct agent_command *o, const char *line, size_t length)
{
	json_t *tree = jansson_loadb(line, length, 0, NULL);
	const bool is_degraded = json_is_true(json_object_get(tree, "degraded"));

	if (!json_is_object(tree)) {
		json_decref(tree);
		log_error("the agent has not sent its state");
		return EXIT_USAGE;
	}
	if (o->json && !o->alive)
		printf("{\"schema\":\"bpfmon/1\",%.*s", (int)length - 1, line + 1);
	else if (!o->alive)
		status_print(tree, is_degraded);
	json_decref(tree);
	return is_degraded && !o->alive ? EXIT_DEGRADED : 0;
}

/* Copies the path of the agent's socket to @path. Returns 0 or a negative errno. */
static int status_socket_find(const struct agent_command *o, char *path, size_t size)
{
	char why[CONFIG_WHY_BYTES];
	struct agent_config c;
	int err;

	snprintf(path, size, "%s", o->socket ? o->socket : AGENT_SOCKET);
	if (o->socket || !o->config)
		return 0;
	err = config_read(o->config, &c, why, sizeof(why));
	if (err)
		log_error("%s", why);
	else
		snprintf(path, size, "%s", c.socket);
	config_done(&c);
	return err;
}

static int agent_status(const struct agent_command *o)
{
	char path[PATH_MAX], why[512], *line = NULL;
	int status = EXIT_USAGE;
	struct agent_call call;
	size_t room = 0;
	ssize_t n;
	FILE *f;

	if (status_socket_find(o, path, sizeof(path)))
		return EXIT_USAGE;
	if (agent_call_status(&call, path, why, sizeof(why))) {
		log_error("%s", why);
		return EXIT_USAGE;
	}
	f = memory_fdopen(call.stream_fd, "r");
	n = f ? memory_getline(&line, &room, f) : -1;
	if (n > 0)
		status = status_line_show(o, line, (size_t)n);
	else
		log_error("the agent has not sent its state");
	free(line);
	if (f) {
		call.stream_fd = -1;
		fclose(f);
	}
	agent_call_done(&call);
	return status;
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
	if (o.rules) {
		rules_print_table(stdout);
		return 0;
	}
	if (o.check)
		return config_check(&o);
	if (o.status || o.alive)
		return agent_status(&o);
	if (o.json || o.socket) {
		log_error("--%s needs --status", o.json ? "json" : "socket");
		return EXIT_USAGE;
	}
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
