// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon jobs: lists the present jobs of this node, from its agent. */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/option_values.h"

#include "base/exit_status.h"
#include "base/agent_socket.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/user.h"
#include "store/job_title.h"
#include "store/node_jobs.h"
#include "text/jobs_text.h"
#include "text/terminal.h"
#include "run/agent_call.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct jobs_options {
	struct common_options common;
	enum job_order order;
	const char *agent;
	enum print_format as;
};

static int jobs_order_parse(void *order, const char *text)
{
	static const char *const words[] = {
		[JOBS_BY_CPU] = "cpu",     [JOBS_BY_CORES] = "cores", [JOBS_BY_MEMORY] = "memory",
		[JOBS_BY_START] = "start", [JOBS_BY_NAME] = "name",
	};
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	*(enum job_order *)order = (enum job_order)at;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct jobs_options, field)

static const struct option_row jobs_rows[] = {
	{ "sort", 0, "ORDER", false, "Sort by cpu (default), cores, memory, start or name", jobs_order_parse, AT(order), GUARD_NONE },
	{ "format", 'f', "FORMAT", false, "Output format: text (default), or json, one object per line", print_json_or_text_parse, AT(as), GUARD_NONE },
	{ "json", 0, NULL, false, "Same as --format json", print_json_parse, AT(as), GUARD_NONE },
	{ "agent", 0, "SOCKET", false, "Ask the agent at SOCKET (default " AGENT_SOCKET ")", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group jobs_groups[] = {
	{ jobs_rows, 0, true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int jobs_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_jobs, options, argc, argv);
}

static void jobs_help(void)
{
	puts("Usage: bpfmon jobs [OPTIONS]\n"
	     "\n"
	     "Lists the current jobs of this node: your own, or all jobs for root (also under "
	     "sudo)\n"
	     "and members of the admin group. A job is a cgroup that matches a rule of the agent "
	     "(a\n"
	     "service, session, container or batch job), or a run that uses the agent. NAME is "
	     "that\n"
	     "of podman, docker, Kubernetes or Slurm, where you may read it. CORES is the CPU use "
	     "since\n"
	     "the previous sample; CPU and SINCE count from when the agent first saw the job.\n"
	     "CPU-REQ is the CPU request of a pod; CPU-MAX and MEM-MAX are the limits of "
	     "cgroups.\n");
	options_print(&subcommand_jobs);
	puts("Exit status: 0: success, 2: usage error, or no agent.");
}

/* Adds the schema to each line; originally only the first line of a job has it. */
static void line_print(enum line_kind kind, const char *line, size_t length)
{
	const bool has_schema = kind == LINE_META;

	if (!has_schema)
		fputs("{\"schema\":\"bpfmon/1\",", stdout);
	fwrite(has_schema ? line : line + 1, 1, has_schema ? length : length - 1, stdout);
}

/* The agent does not know containers in the home of the caller, nor jobs that have just begun. */
static void jobs_find_titles(struct node_job_rows *rows)
{
	struct job_titles t;

	job_titles_open(&t, "", true);
	for (size_t i = 0; i < rows->nr; i++) {
		struct node_job_row *row = &rows->all[i];
		struct job_title title;

		if (row->title)
			continue;
		job_title_find(&t, row->id, row->cgroup, &title);
		row->title = title.text;
		title.text = NULL;
		job_title_done(&title);
	}
	job_titles_done(&t);
}

/* An admin sees jobs of others, too. */
static void jobs_print_table(struct node_job_rows *rows, enum job_order order)
{
	static struct user caller; /* too large for the stack */
	bool was_sudo;

	user_find_caller(&caller, &was_sudo);
	jobs_find_titles(rows);
	node_jobs_sort(rows, order);
	if (rows->nr)
		node_jobs_table(stdout, rows, clock_ns(CLOCK_REALTIME), table_width(stdout));
	else
		node_jobs_none(stdout, rows, caller.name);
	if (geteuid() && node_jobs_are_of(rows, caller.name))
		own_jobs_note(stdout, caller.name);
}

static int jobs_print(const struct jobs_options *o, FILE *f)
{
	struct node_job_rows rows = { 0 };
	int err = node_jobs_read(&rows, f, o->as == PRINT_JSON ? line_print : NULL);

	if (!err && o->as == PRINT_TEXT)
		jobs_print_table(&rows, o->order);
	node_jobs_done(&rows);
	if (err)
		log_error("the list from the agent is incomplete: %s", strerror(-err));
	return err ? EXIT_USAGE : 0;
}

static int cmd_jobs(int argc, char **argv)
{
	struct jobs_options o;
	int go_on = options_begin(&subcommand_jobs, &o, argc, argv), status = EXIT_USAGE;
	struct agent_call call;
	char why[512];
	FILE *f;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (agent_call_node(&call, o.agent ? o.agent : AGENT_SOCKET, true, why, sizeof(why))) {
		log_error("%s", why);
		return EXIT_USAGE;
	}
	f = memory_fdopen(call.stream_fd, "r");
	if (f) {
		call.stream_fd = -1;
		status = jobs_print(&o, f);
		fclose(f);
	}
	agent_call_done(&call);
	return status;
}

const struct subcommand subcommand_jobs = {
	.name = "jobs",
	.aliases = "ps watch",
	.summary = "list the current jobs of this node",
	.part = PART_READS,
	.run = cmd_jobs,
	.groups = jobs_groups,
	.options_bytes = sizeof(struct jobs_options),
	.parse = jobs_parse,
	.help = jobs_help,
};
