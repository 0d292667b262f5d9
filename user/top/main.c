// SPDX-License-Identifier: BSD-2-Clause
/*
 * bpfmon-top shows a live or recorded run. It is a program of its own, so that bpfmon does not load
 * ncurses. `bpfmon top` executes it with the rights of the user. It tracks and signals nothing.
 */
#include "base/agent_socket.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "text/terminal.h"
#include "top/session.h"
#include "version.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int top_option_take(struct top_options *o, int key, const char *text)
{
	if (key == 'h')
		o->shows_help = true;
	else if (key == 'v')
		o->shows_version = true;
	else if (key == 's' && o->nr_stores < MAX_STORES)
		o->stores[o->nr_stores++] = text;
	else if (key == 'r')
		o->run = strtoll(text, NULL, 10);
	else if (key == 'g')
		o->is_running = true;
	else if (key == 'l')
		o->label = text;
	else if (key == 'a')
		o->agent = text;
	else if (key == 'f')
		agent_socket_use_root((int)strtol(text, NULL, 10));
	else if (key == 'j')
		o->job = text;
	else if (key == 'p')
		o->pid = (int32_t)strtol(text, NULL, 10);
	else if (key == 'c')
		terminal_choose_colour(!strcmp(text, "always")  ? COLOUR_ALWAYS
				       : !strcmp(text, "never") ? COLOUR_NEVER
								: COLOUR_AUTO);
	else if (key == '?')
		return -EINVAL;
	return 0;
}

static bool sources_are_clear(const struct top_options *o, bool has_more)
{
	if (o->job && !o->agent)
		return false;
	if (o->file)
		return !has_more && !o->nr_stores && !o->agent;
	return o->nr_stores || o->agent;
}

/* Returns -EINVAL after an error message. */
static int top_options_read(struct top_options *o, int argc, char **argv)
{
	static const struct option rows[] = {
		{ "help", no_argument, NULL, 'h' },
		{ "version", no_argument, NULL, 'v' },
		{ "store", required_argument, NULL, 's' },
		{ "run", required_argument, NULL, 'r' },
		{ "running", no_argument, NULL, 'g' },
		{ "label", required_argument, NULL, 'l' },
		{ "agent", required_argument, NULL, 'a' },
		{ "agent-fd", required_argument, NULL, 'f' },
		{ "job", required_argument, NULL, 'j' },
		{ "select", required_argument, NULL, 'p' },
		{ "color", required_argument, NULL, 'c' },
		{ 0 },
	};
	int key, err = 0;

	*o = (struct top_options){ 0 };
	while (!err && (key = getopt_long(argc, argv, "h", rows, NULL)) != -1)
		err = top_option_take(o, key, optarg);
	if (err)
		return err;
	o->file = argv[optind];
	if (!o->shows_help && !o->shows_version &&
	    !sources_are_clear(o, o->file && argv[optind + 1])) {
		log_error("bpfmon-top needs FILE, --store FILE or --agent SOCKET; see 'bpfmon top "
			  "--help'");
		return -EINVAL;
	}
	return 0;
}

static void top_options_help(void)
{
	puts("Usage: bpfmon-top [OPTIONS] FILE | bpfmon-top --store FILE [--run ID]\n"
	     "       bpfmon-top --agent SOCKET [--job ID]\n"
	     "\n"
	     "Shows the processes of a run. `bpfmon top` executes this program.\n"
	     "\n"
	     "      --store FILE   Use this store; may be repeated for a list of current runs\n"
	     "      --run ID       Show the run with this number in the store\n"
	     "      --running      Follow the run, which is still going on\n"
	     "      --agent SOCKET Include the jobs of this agent in the list\n"
	     "      --agent-fd N   Let the process at this descriptor connect to the agent\n"
	     "      --job ID       Show this job of the agent\n"
	     "      --select PID   Select this process\n"
	     "      --label TEXT   Title of the run or job\n"
	     "      --color WHEN   Use colours: auto (default), always or never\n"
	     "  -h, --help         Show this help\n"
	     "      --version      Show the version");
}

int main(int argc, char **argv)
{
	struct top_options o;

	memory_exit_on_failure(true);
	if (memory_init() || top_options_read(&o, argc, argv))
		return EXIT_USAGE;
	if (o.shows_help || o.shows_version) {
		if (o.shows_help)
			top_options_help();
		else
			puts("bpfmon-top " BPFMON_VERSION);
		return fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	/* numbers stay as in the C locale */
	setlocale(LC_CTYPE, "");
	return session_run(&o);
}
