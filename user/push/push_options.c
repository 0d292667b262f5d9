// SPDX-License-Identifier: BSD-2-Clause
#include "push/push_options.h"

#include "base/log.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct option names[] = {
	{ "config", required_argument, NULL, 'f' },
	{ "stream", required_argument, NULL, 's' },
	{ "user", required_argument, NULL, 'u' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

void push_options_help(void)
{
	puts("Usage: bpfmon-push --config FILE [OPTIONS]\n"
	     "\n"
	     "Sends the job metrics of the agent to a database, as line protocol.\n"
	     "\n"
	     "  --config FILE              Configuration of the agent: its socket, and [push]\n"
	     "  --stream FROM              Read from agent:SOCKET, unix:PATH, FILE, or - for "
	     "stdin\n"
	     "  --user NAME                Run as this user, if started by root; jobs of all users "
	     "are\n"
	     "                             visible to members of the group bpfmon-admin\n"
	     "  --verbose                  Report when the stream opens, and the server answers "
	     "again\n"
	     "  --version                  Show the version\n"
	     "  --help                     Show this help");
}

static int option_take_text(const char *name, char *to, size_t size)
{
	if ((size_t)snprintf(to, size, "%s", optarg) < size)
		return 0;
	log_error("--%s does not accept values of more than %zu bytes", name, size - 1);
	return -EINVAL;
}

static int config_take(struct push_options *o)
{
	char why[CONFIG_WHY_BYTES];

	config_done(&o->config); /* of an earlier --config */
	if (!config_read(optarg, &o->config, why, sizeof(why)))
		return 0;
	log_error("%s", why);
	return -EINVAL;
}

static int option_take(struct push_options *o, int letter)
{
	switch (letter) {
	case 'f':
		return config_take(o);
	case 's':
		return option_take_text("stream", o->stream, sizeof(o->stream));
	case 'u':
		return option_take_text("user", o->user, sizeof(o->user));
	case 'v':
		o->is_verbose = true;
		return 0;
	case 'V':
		o->shows_version = true;
		return 0;
	case 'h':
		o->shows_help = true;
		return 0;
	default:
		return -EINVAL; /* getopt_long() has printed the error */
	}
}

/* Sets what depends on the whole command line. */
static int options_complete(struct push_options *o, const char *further)
{
	if (further) {
		log_error("unexpected argument '%s'; see --help", further);
		return -EINVAL;
	}
	if (!*o->config.path) {
		log_error("no configuration given; use --config");
		return -EINVAL;
	}
	if (!*o->stream)
		snprintf(o->stream, sizeof(o->stream), "agent:%s", o->config.socket);
	memcpy(o->instance, o->config.instance, sizeof(o->instance));
	if (!*o->instance && gethostname(o->instance, sizeof(o->instance) - 1)) {
		log_error("cannot read the name of the host: %s; set instance in [push]",
			  strerror(errno));
		return -EINVAL;
	}
	return 0;
}

int push_options_read(struct push_options *o, int argc, char **argv)
{
	int letter, err = 0;

	*o = (struct push_options){ 0 };
	while (!err && (letter = getopt_long(argc, argv, "", names, NULL)) >= 0)
		err = option_take(o, letter);
	if (err || o->shows_help || o->shows_version)
		return err;
	return options_complete(o, optind < argc ? argv[optind] : NULL);
}
