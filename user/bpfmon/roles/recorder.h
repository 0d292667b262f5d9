/* SPDX-License-Identifier: BSD-2-Clause */
/* The role with the user's own rights: reads the stream, writes the outputs. */
#ifndef ROLES_RECORDER_H
#define ROLES_RECORDER_H

#include "bpfmon/roles/observer.h"

#include <stdbool.h>

/*
 * The commands of --on-stall and --on-limit. The recorder, which cannot execute anything once it
 * has its filter of system calls, makes a process for each before: that one waits for the event,
 * and does nothing else.
 */

struct event_command {
	const char *option;   /* without its dashes */
	const char *variable; /* of the environment: what has happened */
	const char *command;  /* NULL: none, and there is no process */
	int fd;               /* to the process; filled in; -1: there is none */
};

/*
 * Makes that process, with the rights that the caller has now; it ends when c->fd, the caller's, is
 * closed by all and what has been asked for is done. A failure is one warning.
 */
void event_command_start(struct event_command *c);

#define MAX_OUTPUTS 16

struct recorder_output {
	const struct observer_ops *format;
	const char *path; /* "-": stdout */
};

struct recorder_options {
	struct recorder_output outputs[MAX_OUTPUTS];
	size_t nr_outputs;
	bool outputs_are_defaults; /* from the environment: one that is in use is skipped */
	bool force;
	const char *store;     /* path; NULL: none */
	int lines_fd;          /* where the lines go, too; 0: nowhere */
	bool quiet;            /* no summary on stderr */
	bool live;             /* the launcher can show a status line */
	bool is_of_agent;      /* the collector: it is elsewhere */
	bool stdout_is_closed; /* descriptor 1 is a placeholder */
	const char *template;  /* what stands for the text summary; NULL: it is as usual */
	const char *as_user;   /* for messages; NULL: the role kept its rights */
	struct event_command on_stall, on_limit;
	int control_fd; /* to the launcher */
	int stream_fd;  /* from the collector */
};

/* Runs the role to its end. 0, or a negative errno that was reported to the launcher. */
int recorder_run(const struct recorder_options *o);

#endif
