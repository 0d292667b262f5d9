// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon push: sends stored runs to a database, as line protocol: bpfmon-push sends what bpfmon
 * export writes.
 */
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "bpfmon/libexec.h"
#include "bpfmon/subcommands.h"
#include "options/common_options.h"
#include "options/completion.h"
#include "options/option_values.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct push_command {
	struct common_options common; /* common.words: the runs */
	const char *url, *token_file, *ca_file;
	struct store_options store;
};

/* clang-format off */
#define AT(field) offsetof(struct push_command, field)

static const struct option_row push_rows[] = {
	{ "url", 0, "URL", false, "Where to send the runs: http:, https:, unix: or udp: (FLEET.md)", text_parse, AT(url), GUARD_ENVIRONMENT },
	{ "token-file", 0, "FILE", false, "File with a token or USER:PASSWORD", text_parse, AT(token_file), GUARD_ENVIRONMENT },
	{ "ca-file", 0, "FILE", false, "Certificates of authorities for https, PEM", text_parse, AT(ca_file), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group push_groups[] = {
	{ push_rows, 0, true },
	{ store_rows, AT(store), true },
	{ node_rows, AT(store), false },
	{ node_agent_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static void push_help(void)
{
	puts("Usage: bpfmon push [RUN...] --url URL\n"
	     "\n"
	     "Sends stored runs to InfluxDB, VictoriaMetrics or Telegraf, as `bpfmon export -f "
	     "influx`\n"
	     "writes them. RUN is a number from `bpfmon list`, a name, the beginning of a UUID, or "
	     "a\n"
	     "file of JSON Lines. The default is the last run. A run that is sent again replaces "
	     "its\n"
	     "points in InfluxDB.");
	options_print(&subcommand_push);
	puts("\nExit status: 0: all was sent, 1: not all, 2: usage error, no such run, or not "
	     "permitted.");
}

#define PUSH_WORDS 16

/* Executes @path with @words, and an end of a pipe as @to. Returns a PID or a negative errno. */
static pid_t pipe_child_start(const char *path, const char *const *words, int fd, int to)
{
	pid_t pid = fork();

	if (pid)
		return pid > 0 ? pid : -errno;
	unsetenv("BPFMON_TOKEN_FILE"); /* they are options here, if they may be used */
	unsetenv("BPFMON_CA_FILE");
	if (dup2(fd, to) >= 0)
		execv(path, (char *const *)words);
	log_error("cannot execute %s: %s", path, strerror(errno));
	_exit(EXIT_USAGE);
}

static int pipe_child_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return EXIT_USAGE;
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_USAGE + WTERMSIG(status);
}

static pid_t pipe_export_start(const struct push_command *o, const char *self, int fd)
{
	size_t nr = 0, runs = 0;
	const char **words;
	pid_t pid;

	while (o->common.words[runs])
		runs++;
	words = memory_calloc(runs + PUSH_WORDS, sizeof(*words));
	if (!words)
		return -ENOMEM;
	words[nr++] = "bpfmon";
	words[nr++] = "export";
	words[nr++] = "--format";
	words[nr++] = "influx";
	if (o->store.path) {
		words[nr++] = "--store";
		words[nr++] = o->store.path;
	}
	if (o->store.of_node)
		words[nr++] = "--node";
	if (o->store.agent) {
		words[nr++] = "--agent";
		words[nr++] = o->store.agent;
	}
	words[nr++] = "--";
	memcpy(words + nr, o->common.words, runs * sizeof(*words));
	pid = pipe_child_start(self, words, fd, STDOUT_FILENO);
	free(words);
	return pid;
}

static pid_t pipe_sender_start(const struct push_command *o, const char *path, int fd)
{
	const char *words[PUSH_WORDS] = { "bpfmon-push", "--lines", "--url", o->url };
	size_t nr = 4;

	if (o->token_file) {
		words[nr++] = "--token-file";
		words[nr++] = o->token_file;
	}
	if (o->ca_file) {
		words[nr++] = "--ca-file";
		words[nr++] = o->ca_file;
	}
	return pipe_child_start(path, words, fd, STDIN_FILENO);
}

/* Returns the exit status. */
static int push_runs(const struct push_command *o)
{
	char self[PATH_MAX], path[PATH_MAX];
	pid_t exporter, sender;
	int fds[2], status;

	if (libexec_find_self(self, sizeof(self)) || libexec_find("bpfmon-push", path))
		return EXIT_USAGE;
	if (pipe2(fds, O_CLOEXEC)) {
		log_error("cannot make a pipe: %s", strerror(errno));
		return EXIT_USAGE;
	}
	exporter = pipe_export_start(o, self, fds[1]);
	sender = pipe_sender_start(o, path, fds[0]);
	close(fds[0]);
	close(fds[1]);
	if (exporter < 0 || sender < 0)
		log_error("cannot start a process: %s",
			  strerror((int)-(exporter < 0 ? exporter : sender)));
	status = exporter > 0 ? pipe_child_wait(exporter) : EXIT_USAGE;
	if (sender > 0) {
		int sent = pipe_child_wait(sender);

		/* export is ended by SIGPIPE if the sender ends before it */
		status = status && status != EXIT_USAGE + SIGPIPE ? status : sent;
	}
	return status;
}

static int cmd_push(int argc, char **argv)
{
	struct push_command o;
	int go_on = options_begin(&subcommand_push, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	if (!o.url) {
		log_error("no --url given; try: bpfmon push %s%s--url "
			  "'http://localhost:8086/write?db=bpfmon'",
			  o.common.words[0] ? o.common.words[0] : "", o.common.words[0] ? " " : "");
		return EXIT_USAGE;
	}
	return push_runs(&o);
}

static int push_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_push, options, argc, argv);
}

const struct subcommand subcommand_push = {
	.name = "push",
	.summary = "send runs to a database",
	.part = PART_READS,
	.words = { .most = ANY_WORDS, .offer = completion_offer_runs },
	.run = cmd_push,
	.groups = push_groups,
	.options_bytes = sizeof(struct push_command),
	.parse = push_parse,
	.help = push_help,
};
