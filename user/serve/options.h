/* SPDX-License-Identifier: BSD-2-Clause */
/* What bpfmon-serve is to do, from the configuration of the agent and the command line. */
#ifndef SERVE_OPTIONS_H
#define SERVE_OPTIONS_H

#include "config/config.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SERVE_LISTEN "127.0.0.1:9433"
#define SERVE_SERIES 1000
#define SERVE_MAX_SERIES 1000000
#define SERVE_KEEP_SECONDS 300

struct serve_options {
	char stream[CONFIG_TEXT_BYTES + sizeof("unix:")]; /* FILE, - or unix:PATH */
	struct config_address listen;
	char hosts[CONFIG_TEXT_BYTES]; /* names with blanks between */
	size_t series;                 /* jobs with a series of their own */
	uint64_t keep_ns;              /* how long an ended job stays */
	char certificate[CONFIG_TEXT_BYTES], key[CONFIG_TEXT_BYTES]; /* empty: no TLS */
	char password_file[CONFIG_TEXT_BYTES];                       /* empty: no authentication */
	bool is_verbose;
	bool shows_metrics, shows_version, shows_help;
};

/* Reads the command line, and the configuration that it names, whose keys it overrides. Reports
 * what is wrong. 0, or -EINVAL. */
int serve_options_read(struct serve_options *o, int argc, char **argv);
/* Prints what the options are. */
void serve_options_help(void);

#endif
