// SPDX-License-Identifier: BSD-2-Clause
#include "exporter/exporter_http.h"

#include "base/clock.h"
#include "base/log.h"
#include "config/table.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct option names[] = {
	{ "config", required_argument, NULL, 'f' },
	{ "stream", required_argument, NULL, 's' },
	{ "listen", required_argument, NULL, 'l' },
	{ "host", required_argument, NULL, 'H' },
	{ "series", required_argument, NULL, 'n' },
	{ "keep", required_argument, NULL, 'k' },
	{ "certificate", required_argument, NULL, 'c' },
	{ "key", required_argument, NULL, 'K' },
	{ "password-file", required_argument, NULL, 'p' },
	{ "user", required_argument, NULL, 'u' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "metrics", no_argument, NULL, 'm' },
	{ "version", no_argument, NULL, 'V' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

void exporter_options_help(void)
{
	puts("Usage: bpfmon-exporter --config FILE|--stream FROM [OPTIONS]\n"
	     "\n"
	     "Serves the job metrics of the agent to Prometheus, with an overview page.\n"
	     "\n"
	     "  --config FILE              Configuration of the agent: its socket, and [exporter]\n"
	     "  --stream FROM              Read from agent:SOCKET, unix:PATH, FILE, or - for "
	     "stdin\n"
	     "  --listen ADDRESS:PORT      Listen on this address (default " EXPORTER_LISTEN ")\n"
	     "  --host NAME                Accept this host name, too; may be repeated\n"
	     "  --series N                 Maximum number of jobs with series of their own "
	     "(default 1000)\n"
	     "  --keep SECONDS             Keep the series of an ended job this long (default "
	     "300)\n"
	     "  --certificate FILE         PEM certificate for TLS; needs --key\n"
	     "  --key FILE                 PEM private key of the certificate\n"
	     "  --password-file FILE       Require a password; the file has lines of user:hash\n"
	     "  --user NAME                Run as this user, if started by root; jobs of all users "
	     "are\n"
	     "                             visible to members of the group bpfmon-admin\n"
	     "  --verbose                  Report when the stream opens and ends\n"
	     "  --metrics                  Print a table of all metrics\n"
	     "  --version                  Show the version\n"
	     "  --help                     Show this help");
}

static int option_take_number(const char *name, const char *text, uint64_t least, uint64_t most,
			      uint64_t *n)
{
	char *end;

	errno = 0;
	*n = strtoull(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || *n < least || *n > most) {
		log_error("--%s does not accept '%s': it expects a whole number from %llu to %llu",
			  name, text, (unsigned long long)least, (unsigned long long)most);
		return -EINVAL;
	}
	return 0;
}

static int option_take_text(const char *name, char *to, size_t size)
{
	if ((size_t)snprintf(to, size, "%s", optarg) < size)
		return 0;
	log_error("--%s does not accept values of more than %zu bytes", name, size - 1);
	return -EINVAL;
}

static int option_take_address(struct config_address *to)
{
	char why[CONFIG_WHY_BYTES];
	int err = config_address_parse(optarg, to, why, sizeof(why));

	if (err)
		log_error("--listen does not accept '%s': it expects %s", optarg, why);
	return err;
}

static int option_take_host(struct exporter_options *o)
{
	size_t used = strlen(o->hosts);

	if (*optarg && !optarg[strcspn(optarg, "/: \t\r\n")] &&
	    (size_t)snprintf(o->hosts + used, sizeof(o->hosts) - used, "%s%s", used ? " " : "",
			     optarg) < sizeof(o->hosts) - used)
		return 0;
	log_error("--host does not accept '%s': invalid host name, or too many of them", optarg);
	return -EINVAL;
}

/* Sets an option with a value; the configuration was read before. */
static int option_take_value(struct exporter_options *o, int letter)
{
	uint64_t n;

	switch (letter) {
	case 'f':
		return 0;
	case 's':
		return option_take_text("stream", o->stream, sizeof(o->stream));
	case 'l':
		return option_take_address(&o->listen);
	case 'H':
		return option_take_host(o);
	case 'n':
		if (option_take_number("series", optarg, 1, EXPORTER_MAX_SERIES, &n))
			return -EINVAL;
		o->series = (size_t)n;
		return 0;
	case 'k':
		if (option_take_number("keep", optarg, 0, 31536000, &n))
			return -EINVAL;
		o->keep_ns = n * NSEC_PER_SEC;
		return 0;
	case 'c':
		return option_take_text("certificate", o->certificate, sizeof(o->certificate));
	case 'K':
		return option_take_text("key", o->key, sizeof(o->key));
	case 'u':
		return option_take_text("user", o->user, sizeof(o->user));
	case 'p':
		return option_take_text("password-file", o->password_file,
					sizeof(o->password_file));
	default:
		return -EINVAL; /* getopt_long() has printed the error */
	}
}

static int option_take(struct exporter_options *o, int letter)
{
	switch (letter) {
	case 'v':
		o->is_verbose = true;
		return 0;
	case 'm':
		o->shows_metrics = true;
		return 0;
	case 'V':
		o->shows_version = true;
		return 0;
	case 'h':
		o->shows_help = true;
		return 0;
	default:
		return option_take_value(o, letter);
	}
}

static int config_take(struct exporter_options *o, const char *path)
{
	char why[CONFIG_WHY_BYTES];
	struct agent_config c;
	int err = config_read(path, &c, why, sizeof(why));

	if (err) {
		log_error("%s", why);
		return -EINVAL;
	}
	snprintf(o->stream, sizeof(o->stream), "agent:%s", c.socket);
	o->listen = c.listen;
	memcpy(o->hosts, c.hosts, sizeof(o->hosts));
	o->series = (size_t)c.series;
	o->keep_ns = c.keep_ns;
	memcpy(o->certificate, c.certificate, sizeof(o->certificate));
	memcpy(o->key, c.key, sizeof(o->key));
	memcpy(o->password_file, c.password_file, sizeof(o->password_file));
	config_done(&c);
	return 0;
}

/* The other options override the configuration wherever it stands. */
static int options_read_config(struct exporter_options *o, int argc, char **argv)
{
	int letter, err = 0;

	opterr = 0;
	while (!err && (letter = getopt_long(argc, argv, "", names, NULL)) >= 0)
		if (letter == 'f')
			err = config_take(o, optarg);
	opterr = 1;
	optind = 0; /* restarts getopt_long() */
	return err;
}

static int options_check(const struct exporter_options *o, const char *further)
{
	if (further) {
		log_error("unexpected argument '%s'; see --help", further);
		return -EINVAL;
	}
	if (!*o->stream) {
		log_error("no source given; use --config or --stream");
		return -EINVAL;
	}
	if (!*o->certificate != !*o->key) {
		log_error("TLS needs both --certificate and --key");
		return -EINVAL;
	}
	return 0;
}

int exporter_options_read(struct exporter_options *o, int argc, char **argv)
{
	char why[CONFIG_WHY_BYTES];
	int letter, err;

	*o = (struct exporter_options){
		.series = EXPORTER_SERIES,
		.keep_ns = EXPORTER_KEEP_SECONDS * NSEC_PER_SEC,
	};
	config_address_parse(EXPORTER_LISTEN, &o->listen, why, sizeof(why));
	err = options_read_config(o, argc, argv);
	while (!err && (letter = getopt_long(argc, argv, "", names, NULL)) >= 0)
		err = option_take(o, letter);
	if (err || o->shows_help || o->shows_version || o->shows_metrics)
		return err;
	return options_check(o, optind < argc ? argv[optind] : NULL);
}
