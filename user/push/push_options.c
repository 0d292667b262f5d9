// SPDX-License-Identifier: BSD-2-Clause
#include "push/push_options.h"

#include "base/log.h"
#include "base/memory.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_SECONDS 30

static const struct option names[] = {
	{ "config", required_argument, NULL, 'f' },  { "stream", required_argument, NULL, 's' },
	{ "user", required_argument, NULL, 'u' },    { "lines", no_argument, NULL, 'l' },
	{ "url", required_argument, NULL, 'U' },     { "token-file", required_argument, NULL, 't' },
	{ "ca-file", required_argument, NULL, 'c' }, { "patience", required_argument, NULL, 'p' },
	{ "verbose", no_argument, NULL, 'v' },       { "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },          { 0 },
};

/* Keys of [push] that are options, too. */
static const struct {
	const char *key, *variable;
	int letter;
} keys[NR_PUSH_KEYS] = { { "url", "BPFMON_URL", 'U' },
			 { "token_file", "BPFMON_TOKEN_FILE", 't' },
			 { "ca_file", "BPFMON_CA_FILE", 'c' } };

void push_options_help(void)
{
	puts("Usage: bpfmon-push --config FILE [OPTIONS]\n"
	     "       bpfmon-push --lines --url URL [OPTIONS]\n"
	     "\n"
	     "Sends the job metrics of the agent to a database, as line protocol or OTLP; with\n"
	     "--lines, the lines of stdin.\n"
	     "\n"
	     "  --config FILE              Configuration of the agent: its socket, and [push]\n"
	     "  --stream FROM              Read from agent:SOCKET, unix:PATH, FILE, or - for "
	     "stdin\n"
	     "  --user NAME                Run as this user, if started by root; jobs of all users "
	     "are\n"
	     "                             visible to members of the group bpfmon-admin\n"
	     "  --lines                    Send lines of the line protocol from stdin, and end\n"
	     "  --url URL                  Where to send these lines (BPFMON_URL)\n"
	     "  --token-file FILE          File with a token or USER:PASSWORD (BPFMON_TOKEN_FILE)\n"
	     "  --ca-file FILE             Certificates of authorities, PEM (BPFMON_CA_FILE)\n"
	     "  --patience SECONDS         Give up if the server accepts nothing for this long "
	     "after\n"
	     "                             the last line (default 30)\n"
	     "  --verbose                  Report when the stream opens, and the server answers "
	     "again\n"
	     "  --version                  Show the version\n"
	     "  --help                     Show this help");
}

static int push_take_text(const char *name, char *to, size_t size)
{
	if ((size_t)snprintf(to, size, "%s", optarg) < size)
		return 0;
	log_error("--%s does not accept values of more than %zu bytes", name, size - 1);
	return -EINVAL;
}

static int push_take_config(struct push_options *o)
{
	char why[CONFIG_WHY_BYTES];

	config_done(&o->config); /* of an earlier --config */
	if (!config_read(optarg, &o->config, why, sizeof(why)))
		return 0;
	log_error("%s", why);
	return -EINVAL;
}

/* Sets a key of [push]; the option has its name. */
static int push_take_key(struct push_options *o, const char *key, const char *text)
{
	char why[CONFIG_WHY_BYTES], whole[PATH_MAX];
	int err;

	if (strcmp(key, "url") != 0) { /* a file: the configuration has absolute paths */
		if (!memory_realpath(text, whole)) {
			log_error("cannot read %s: %s", text, strerror(errno));
			return -EINVAL;
		}
		text = whole;
	}
	err = config_set(&o->config, key, text, why, sizeof(why));
	if (err == -EINVAL)
		log_error("%s does not accept '%.*s': it expects %s", key, (int)strcspn(text, "?"),
			  text, why);
	else if (err)
		log_error("%s", why);
	return err;
}

static int push_take_patience(struct push_options *o)
{
	char *end;
	unsigned long v = strtoul(optarg, &end, 10);

	if (end == optarg || *end || *optarg == '-' || v > 86400) {
		log_error("--patience does not accept '%s': it expects seconds, up to 86400",
			  optarg);
		return -EINVAL;
	}
	o->patience_seconds = (unsigned)v;
	return 0;
}

static int push_take(struct push_options *o, int letter)
{
	switch (letter) {
	case 'l':
		o->sends_lines = true;
		return 0;
	case 'U':
	case 't':
	case 'c':
		for (size_t i = 0; i < NR_PUSH_KEYS; i++)
			if (keys[i].letter == letter)
				o->given[i] = optarg;
		return 0;
	case 'p':
		return push_take_patience(o);
	case 'f':
		return push_take_config(o);
	case 's':
		return push_take_text("stream", o->stream, sizeof(o->stream));
	case 'u':
		return push_take_text("user", o->user, sizeof(o->user));
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

/* Sets the keys of [push] that are given, or for --lines in a user's environment. */
static int push_take_keys(struct push_options *o)
{
	int err = 0;

	for (size_t i = 0; !err && i < NR_PUSH_KEYS; i++) {
		const char *text = o->given[i];

		if (!text && o->sends_lines)
			text = getenv(keys[i].variable);
		if (text && *text)
			err = push_take_key(o, keys[i].key, text);
	}
	return err;
}

/* Sets what depends on the whole command line. */
static int options_complete(struct push_options *o, const char *further)
{
	if (further) {
		log_error("unexpected argument '%s'; see --help", further);
		return -EINVAL;
	}
	if (push_take_keys(o))
		return -EINVAL;
	if (o->sends_lines) {
		if (!*o->config.url)
			log_error("--lines needs --url");
		return *o->config.url ? 0 : -EINVAL;
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
	char why[CONFIG_WHY_BYTES];
	int letter, err;

	*o = (struct push_options){ .patience_seconds = PATIENCE_SECONDS };
	err = config_set_defaults(&o->config, why, sizeof(why));
	if (err)
		log_error("%s", why);
	while (!err && (letter = getopt_long(argc, argv, "", names, NULL)) >= 0)
		err = push_take(o, letter);
	if (err || o->shows_help || o->shows_version)
		return err;
	return options_complete(o, optind < argc ? argv[optind] : NULL);
}
