// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon serve: shows the runs as pages for a browser, by executing bpfmon-web. */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/option_values.h"

#include "base/exit_status.h"
#include "base/agent_socket.h"
#include "base/log.h"
#include "base/user.h"
#include "bpfmon/libexec.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROGRAM "bpfmon-web"
#define MAX_HOSTS 8
#define MAX_PORT 65535

struct serve_command {
	struct common_options common;
	const char *listen; /* an address without a port */
	unsigned port;      /* 0: any free port */
	const char *hosts[MAX_HOSTS];
	size_t nr_hosts;
	const char *agent; /* NULL: the default socket, if it exists */
	struct store_options store;
};

static int serve_port_parse(void *port, const char *text)
{
	return number_parse(text, 0, MAX_PORT, port);
}

static int serve_host_parse(void *options, const char *text)
{
	struct serve_command *o = options;

	if (!*text || text[strcspn(text, "/: \t\r\n")])
		return value_refuse("a host name without a port");
	if (o->nr_hosts == MAX_HOSTS)
		return value_refuse("at most %d host names", MAX_HOSTS);
	o->hosts[o->nr_hosts++] = text;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct serve_command, field)

static const struct option_row serve_rows[] = {
	{ "port", 0, "N", false, "Listen on this port (default 0: any free port)", serve_port_parse, AT(port), GUARD_NONE },
	{ "listen", 0, "ADDRESS", false, "Listen on this address (default 127.0.0.1)", text_parse, AT(listen), GUARD_ENVIRONMENT },
	{ "host", 0, "NAME", false, "Accept this host name, too; may be repeated", serve_host_parse, 0, GUARD_ENVIRONMENT },
	{ 0 }
};

static const struct option_row serve_agent_rows[] = {
	{ "agent", 0, "SOCKET", false, "Ask the agent at SOCKET (default " AGENT_SOCKET ")", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group serve_groups[] = {
	{ serve_rows, 0, false },
	{ serve_agent_rows, 0, true },
	{ store_rows, AT(store), true },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int serve_parse(void *options, int argc, char **argv)
{
	return options_parse(&subcommand_serve, options, argc, argv);
}

static void serve_help(void)
{
	puts("Usage: bpfmon serve [OPTIONS]\n"
	     "\n"
	     "Serves recorded runs as web pages: a searchable list, a page for each run as made "
	     "by\n"
	     "`bpfmon report`, live pages of current runs, comparisons and exports. With an agent, "
	     "it\n"
	     "also shows the jobs of the node: your own, or all for root and members of the admin\n"
	     "group. By default, only this machine can connect. The command prints the address to\n"
	     "open, which contains a secret token. Ctrl-C ends it. The pages can change only the\n"
	     "name, tags and note of a run. For Prometheus, see bpfmon-exporter(8).\n");
	options_print(&subcommand_serve);
	puts("\nExit status: 0; 2 usage, a port that is taken, no " PROGRAM ".");
}

/* Drops to the rights of the calling user, who owns the runs. */
static int serve_leave_rights(void)
{
	struct user caller;
	bool was_sudo;
	int err = 0;

	user_find_caller(&caller, &was_sudo);
	if (was_sudo) {
		privilege_bound(0);
		err = user_become(&caller);
	}
	if (!err && was_sudo)
		err = user_set_environment(&caller);
	if (err)
		log_error("cannot become user %s to serve the runs: %s", caller.name,
			  strerror(-err));
	return err;
}

/*
 * Returns the absolute path, because the server runs in another folder. A path that may be created
 * later has to be given as an absolute one.
 */
static int path_resolve(const char *path, const char *what, char whole[PATH_MAX])
{
	if (memory_realpath(path, whole))
		return 0;
	log_error("cannot read the %s '%s': %s", what, path, strerror(errno));
	return -errno;
}

static int serve_become(const struct serve_command *o)
{
	char self[PATH_MAX], path[PATH_MAX], address[300], port[16], store[PATH_MAX],
		agent[PATH_MAX];
	const char *words[16 + 2 * MAX_HOSTS] = { PROGRAM, "--program", self, "--listen",
						  address, "--port",    port };
	bool has_colon = o->listen && strchr(o->listen, ':') && *o->listen != '[';
	size_t nr = 7;

	if (libexec_find_self(self, sizeof(self)) || libexec_find(PROGRAM, path))
		return -ENOENT;
	snprintf(port, sizeof(port), "%u", o->port);
	snprintf(address, sizeof(address), has_colon ? "[%s]" : "%s",
		 o->listen ? o->listen : "127.0.0.1");
	for (size_t i = 0; i < o->nr_hosts; i++) {
		words[nr++] = "--host";
		words[nr++] = o->hosts[i];
	}
	if (o->store.path) {
		if (path_resolve(o->store.path, "store", store))
			return -ENOENT;
		words[nr++] = "--store";
		words[nr++] = store;
	}
	if (o->agent) {
		if (*o->agent != '/' && path_resolve(o->agent, "socket", agent))
			return -ENOENT;
		words[nr++] = "--agent";
		words[nr++] = *o->agent == '/' ? o->agent : agent;
	}
	execv(path, (char *const *)words);
	log_error("cannot execute %s: %s", path, strerror(errno));
	return -errno;
}

static int cmd_serve(int argc, char **argv)
{
	struct serve_command o;
	int go_on = options_begin(&subcommand_serve, &o, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	return serve_leave_rights() || serve_become(&o) ? EXIT_USAGE : 0;
}

const struct subcommand subcommand_serve = {
	.name = "serve",
	.summary = "serve all runs as web pages",
	.part = PART_READS,
	.run = cmd_serve,
	.groups = serve_groups,
	.options_bytes = sizeof(struct serve_command),
	.parse = serve_parse,
	.help = serve_help,
};
