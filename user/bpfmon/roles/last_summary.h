/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The summary that no recorder has shown: received from the collector and written to stderr
 * piecewise, so that neither delays the handling of signals in the launcher.
 */
#ifndef ROLES_LAST_SUMMARY_H
#define ROLES_LAST_SUMMARY_H

#include "base/message.h"
#include "bpfmon/roles/limit_end.h"

#include <poll.h>

struct last_summary {
	struct message message;
	int fd;                   /* to the collector, not owned; -1: closed */
	struct limit_end *limits; /* receives the collector's other messages; not owned */
	bool is_quiet;            /* receive, but do not show */
	char *text;               /* owned; being written */
	size_t length, done;
	uint64_t until_ns; /* time at which the rest is given up */
	uint64_t nr_received;
};

void last_summary_init(struct last_summary *l, int fd, bool is_quiet);
/* Waits up to @wait_ms (-1: without limit) for @signal_fd, @other_fd (-1: none) or the summary. */
void last_summary_wait(const struct last_summary *l, int signal_fd, int other_fd, int wait_ms);
/* Receives and writes what is possible without blocking. */
void last_summary_advance(struct last_summary *l);
/* Returns true if nothing is left to be written. */
bool last_summary_is_shown(const struct last_summary *l);
void last_summary_done(struct last_summary *l);

#endif
