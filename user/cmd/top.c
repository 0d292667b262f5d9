// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon top: finds the run that is meant, and executes bpfmon-top, which shows it: with the rights
 * of the calling user, and without any capability.
 */
#include "cmd/common_options.h"
#include "cmd/named_run.h"
#include "cmd/option_values.h"

#include "base/agent_socket.h"
#include "base/log.h"
#include "view/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_WORDS 160 /* of its command line */

struct top_options {
	struct common_options common; /* its word: the run, or a file */
	struct store_options store;
	const char *job, *agent;
};

/* clang-format off */
#define AT(field) offsetof(struct top_options, field)

static const struct option_row top_rows[] = {
	{ "job", 0, "ID", false, "The run of this job that goes on, else the job of the node", text_parse, AT(job), GUARD_NONE },
	{ 0 }
};

static const struct option_row agent_rows[] = {
	{ "agent", 0, "SOCKET", false, "Ask the agent at SOCKET (default " AGENT_SOCKET ")", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group top_groups[] = {
	{ top_rows, 0, false },
	{ agent_rows, 0, true },
	{ store_rows, AT(store), true },
	{ colour_rows, AT(common), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int top_parse(void *options, int argc, char **argv)
{
	const struct top_options *o = options;
	int err = options_parse(&subcommand_top, options, argc, argv);

	if (!err && o->job && o->common.words && *o->common.words)
		return options_refuse("beside --job there is no", *o->common.words);
	return err ? err : words_check_run(options);
}

static void top_help(void)
{
	puts("Usage: bpfmon top [OPTIONS] [RUN]\n\n"
	     "Shows a run while it goes on: its processes as a tree, each with what it uses "
	     "itself\n"
	     "and the sum of all that it started, ended ones included. RUN is a number of `bpfmon\n"
	     "list`, a name, or a file of JSON Lines, whole or still growing (-: stdin). Without "
	     "RUN\n"
	     "it is the list of the runs that go on, and with an agent of the jobs of this node:\n"
	     "your own, for an admin all. One that has ended is shown again: the arrows left and\n"
	     "right go through its time. ? in it has all keys. It signals nothing.\n");
	options_print(&subcommand_top);
	puts("Exit status: 0; 2 usage, no such run, no terminal; 128 + N, ended by the signal N.");
}

struct command_line {
	const char *words[MAX_WORDS + 1];
	size_t nr;
	char number[32], label[RUN_LABEL_BYTES]; /* of the run, for these words */
};

static void top_add(struct command_line *c, const char *word)
{
	if (c->nr < MAX_WORDS)
		c->words[c->nr++] = word;
}

/* In a checkout it is beside bpfmon, installed in libexec. */
static int top_execute(struct command_line *c)
{
	static const char *const places[] = { "bpfmon-top", "../libexec/bpfmon/bpfmon-top" };
	char program[PATH_MAX - 64], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - program), program, places[i]);
		execv(path, (char *const *)c->words);
		if (errno != ENOENT)
			break;
	}
	log_error("cannot execute bpfmon-top, which belongs beside bpfmon or into "
		  "../libexec/bpfmon: %s",
		  strerror(errno));
	return EXIT_USAGE;
}

static void top_begin(struct command_line *c, const struct top_options *o)
{
	static const char *const colours[] = {
		[COLOUR_AUTO] = "auto", [COLOUR_ALWAYS] = "always", [COLOUR_NEVER] = "never"
	};

	top_add(c, "bpfmon-top");
	top_add(c, "--color");
	top_add(c, colours[o->common.colour]);
}

static int top_show_stored(struct command_line *c, const struct named_runs *n,
			   const struct named_run *r)
{
	snprintf(c->number, sizeof(c->number), "%" PRId64, r->run.id);
	snprintf(c->label, sizeof(c->label), "%s", r->label);
	top_add(c, "--store");
	top_add(c, n->stores.path[r->run.source]);
	top_add(c, "--run");
	top_add(c, c->number);
	top_add(c, "--label");
	top_add(c, c->label);
	if (r->run.state == RUN_RUNNING)
		top_add(c, "--running");
	return top_execute(c);
}

static int top_show_named(struct command_line *c, const struct top_options *o)
{
	static const struct run_word_rules rules;
	struct named_runs n;
	int status = EXIT_USAGE;

	if (!named_runs_find(&n, &o->store, o->common.words, &rules, NULL)) {
		if (n.list[0].file) {
			top_add(c, "--");
			top_add(c, n.list[0].file);
			status = top_execute(c);
		} else {
			status = top_show_stored(c, &n, &n.list[0]);
		}
	}
	named_runs_done(&n);
	return status;
}

static void top_add_agent(struct command_line *c, const struct top_options *o)
{
	top_add(c, "--agent");
	top_add(c, o->agent ? o->agent : AGENT_SOCKET);
}

static int top_show_list(struct command_line *c, const struct top_options *o)
{
	struct stores s;
	int status;

	if (stores_find(&s, &o->store))
		return EXIT_USAGE;
	for (size_t i = 0; i < s.nr; i++) {
		top_add(c, "--store");
		top_add(c, s.path[i]);
	}
	if (o->agent || agent_socket_is_there())
		top_add_agent(c, o);
	status = top_execute(c);
	stores_done(&s);
	return status;
}

static int top_show_job_of_node(struct command_line *c, const struct top_options *o,
				const char *job)
{
	if (!o->agent && !agent_socket_is_there()) {
		log_error("no run of the job '%s' goes on, and there is no agent, which would know "
			  "the "
			  "jobs of this node; see bpfmon agent --help",
			  job);
		return EXIT_USAGE;
	}
	top_add_agent(c, o);
	top_add(c, "--job");
	top_add(c, job);
	top_add(c, "--label");
	top_add(c, job);
	return top_execute(c);
}

static int top_show_job(struct command_line *c, const struct top_options *o)
{
	const struct run_filter filter = { .job = o->job, .state = ONLY_RUNNING };
	struct named_runs n = { 0 };
	struct stored_runs all = { 0 };
	struct named_run r = { 0 };
	int status = EXIT_USAGE, err = stores_find(&n.stores, &o->store);

	if (!err)
		err = stores_query(&n.stores, &filter, &all);
	if (!err && all.nr) {
		stored_runs_sort(&all, BY_START);
		r.run = all.runs[0];
		snprintf(r.label, sizeof(r.label), "job %s", o->job);
		status = top_show_stored(c, &n, &r);
	} else if (!err) {
		status = top_show_job_of_node(c, o, o->job);
	}
	stored_runs_done(&all);
	named_runs_done(&n);
	return status;
}

static int cmd_top(int argc, char **argv)
{
	struct command_line c = { 0 };
	struct top_options o;
	int go_on = options_begin(&subcommand_top, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (!isatty(STDOUT_FILENO)) {
		log_error("top needs a terminal, and stdout is none; see bpfmon show, or bpfmon "
			  "jobs");
		return EXIT_USAGE;
	}
	top_begin(&c, &o);
	if (o.job)
		return top_show_job(&c, &o);
	return *o.common.words ? top_show_named(&c, &o) : top_show_list(&c, &o);
}

const struct subcommand subcommand_top = {
	.name = "top",
	.summary = "a run while it goes on, or again: its processes",
	.part = PART_READS,
	.run = cmd_top,
	.groups = top_groups,
	.options_bytes = sizeof(struct top_options),
	.parse = top_parse,
	.help = top_help,
};
