/* SPDX-License-Identifier: BSD-2-Clause */
/* The options of bpfmon-push: of the service, the configuration of the agent has most of them. */
#ifndef PUSH_PUSH_OPTIONS_H
#define PUSH_PUSH_OPTIONS_H

#include "config/config.h"

#include <stdbool.h>

#define NR_PUSH_KEYS 3

struct push_options {
	struct agent_config config;
	char stream[CONFIG_TEXT_BYTES + sizeof("unix:")]; /* agent:SOCKET, unix:PATH, FILE or - */
	char instance[CONFIG_TEXT_BYTES];
	char user[CONFIG_TEXT_BYTES];    /* to become, if started by root; empty: none */
	const char *given[NR_PUSH_KEYS]; /* url, token_file and ca_file of the command line */
	bool sends_lines;                /* from stdin, instead of the agent's */
	unsigned patience_seconds;       /* then, for a server that does not answer */
	bool is_verbose, shows_version, shows_help;
};

/* Reads the command line and the configuration. Prints errors. Returns 0 or -EINVAL. */
int push_options_read(struct push_options *o, int argc, char **argv);
/* Prints the help text. */
void push_options_help(void);

#endif
