/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The commands of --on-stall and --on-limit. The recorder, which cannot execute anything once it
 * has its filter of system calls, makes a process for each before: that one waits for the event,
 * and does nothing else.
 */
#ifndef ROLES_EVENT_COMMAND_H
#define ROLES_EVENT_COMMAND_H

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
/* Has the command executed once, with @text in its variable; never waits. */
void event_command_execute(const struct event_command *c, const char *text);

#endif
