/* SPDX-License-Identifier: BSD-2-Clause */
/* The summary that no recorder has shown: received from the collector and written to stderr, bit
 * by bit, so that neither keeps the launcher from its signals. */
#ifndef ROLES_LAST_SUMMARY_H
#define ROLES_LAST_SUMMARY_H

#include "base/message.h"
#include "bpfmon/roles/limit_end.h"

#include <poll.h>

struct last_summary {
	struct message message;
	int fd;                   /* to the collector, not owned; -1: nothing comes any more */
	struct limit_end *limits; /* gets what else the collector sends, not owned */
	bool is_quiet;            /* it is received, but not shown */
	char *text;               /* owned; what is being written */
	size_t length, done;
	uint64_t until_ns; /* the rest is given up then */
	uint64_t nr_received;
};

void last_summary_init(struct last_summary *l, int fd, bool is_quiet);
/* Waits, at most @wait_ms (-1: without limit), for something at @signal_fd or @other_fd (-1: none),
 * or for the summary. */
void last_summary_wait(const struct last_summary *l, int signal_fd, int other_fd, int wait_ms);
/* Receives and writes what can be at once. */
void last_summary_advance(struct last_summary *l);
/* Whether nothing is left to be written. */
bool last_summary_is_shown(const struct last_summary *l);
void last_summary_done(struct last_summary *l);

#endif
