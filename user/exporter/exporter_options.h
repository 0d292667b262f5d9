/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of bpfmon-exporter, from the agent's configuration and the command line. */
#ifndef EXPORTER_EXPORTER_OPTIONS_H
#define EXPORTER_EXPORTER_OPTIONS_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORTER_LISTEN "127.0.0.1:9433"
#define EXPORTER_SERIES 1000
#define EXPORTER_MAX_SERIES 1000000
#define EXPORTER_KEEP_SECONDS 300

struct exporter_options {
	char stream[CONFIG_TEXT_BYTES + sizeof("unix:")]; /* agent:SOCKET, unix:PATH, FILE or - */
	struct config_address listen;
	char hosts[CONFIG_TEXT_BYTES]; /* separated by blanks */
	size_t series;                 /* most jobs with a series of their own */
	uint64_t keep_ns;              /* for ended jobs */
	char certificate[CONFIG_TEXT_BYTES], key[CONFIG_TEXT_BYTES]; /* empty: no TLS */
	char password_file[CONFIG_TEXT_BYTES];                       /* empty: no authentication */
	char user[CONFIG_TEXT_BYTES]; /* to become, if started by root; empty: none */
	bool is_verbose;
	bool shows_metrics, shows_version, shows_help;
};

/*
 * Reads the command line, which overrides the configuration file that it names. Prints errors.
 * Returns 0 or -EINVAL.
 */
int exporter_options_read(struct exporter_options *o, int argc, char **argv);
/* Prints the help text. */
void exporter_options_help(void);

#endif
