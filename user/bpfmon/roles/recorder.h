/* SPDX-License-Identifier: BSD-2-Clause */
/* The role with the user's own rights: reads the stream and writes the outputs. */
#ifndef ROLES_RECORDER_H
#define ROLES_RECORDER_H

#include "bpfmon/roles/observer.h"
#include "bpfmon/roles/pusher.h"

#include <stdbool.h>
#include <stddef.h>

/*
 * The command of --on-stall or --on-limit. The recorder cannot execute anything once its system
 * call filter is installed: before that it forks, for each command, a process that only waits for
 * the event.
 */

struct event_command {
	const char *option;   /* without dashes */
	const char *variable; /* environment variable with the text of the event */
	const char *command;  /* NULL: none, and no process */
	int fd;               /* to the process; filled in; -1: none */
};

/*
 * Forks that process with the present rights of the caller. It ends when all copies of c->fd are
 * closed and the requested commands have run. Warns on failure.
 */
void event_command_start(struct event_command *c);

#define MAX_ASKED 4

/*
 * Options that select metrics, as given on the command line. The recorder warns about those that
 * yield nothing on this machine.
 */
struct asked_options {
	struct asked_option {
		const char *name;   /* as given, such as "--net-peers" */
		const char *source; /* option of the source of its metrics, such as "--net" */
	} list[MAX_ASKED];
	size_t nr;
};

/* Adds an option with room for at most MAX_ASKED. */
void asked_add(struct asked_options *asked, const char *name, const char *source);

#define MAX_OUTPUTS 16

struct recorder_output {
	const struct observer_ops *format;
	const char *path;     /* "-": stdout */
	struct pusher pusher; /* of influx_observer */
};

/* Length of the summary on the terminal. */
enum summary_length {
	SUMMARY_AUTO, /* short for a saved run below SUMMARY_SHORT_NS without losses */
	SUMMARY_SHORT,
	SUMMARY_FULL
};

#define SUMMARY_SHORT_NS 1000000000ULL

struct recorder_options {
	struct recorder_output outputs[MAX_OUTPUTS];
	size_t nr_outputs;
	bool outputs_are_defaults; /* from the environment: one that is in use is skipped */
	bool force;
	const char *store;           /* path; NULL: none */
	int lines_fd;                /* receives the lines, too; 0: none */
	bool quiet;                  /* no summary on stderr */
	enum summary_length summary; /* of the summary on stderr */
	bool live;                   /* the launcher can show a status line */
	bool is_of_agent;            /* the agent is the collector */
	bool stdout_is_closed;       /* descriptor 1 is a placeholder */
	const char *template;        /* replaces the text summary; NULL: none */
	const char *as_user;         /* for messages; NULL: the role kept its rights */
	struct asked_options asked;  /* warn about those without effect */
	struct event_command on_stall, on_limit;
	int control_fd; /* to the launcher */
	int stream_fd;  /* from the collector */
};

/* Runs the role to its end. Returns 0, or a negative errno that was reported to the launcher. */
int recorder_run(const struct recorder_options *o);

#endif
