/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node agent: accounts all tasks of the machine in one set of books, makes jobs of cgroups, and
 * serves clients that run or watch jobs through a socket. It opens no path that a client names,
 * executes nothing, and never blocks on a client.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/archive.h"
#include "agent/handover.h"
#include "agent/node.h"
#include "agent/notices.h"
#include "agent/peer.h"
#include "agent/porter.h"
#include "base/notify.h"
#include "config/config.h"

enum agent_source {
	AGENT_LISTENING,
	AGENT_RECORDS,
	AGENT_TIMER,
	AGENT_SIGNALS,
	AGENT_PORTER,
	NR_AGENT_SOURCES
};

#define AGENT_USERS 256 /* with a request rate; further users share a slot */

/* Rate limit of a user: a credit of requests that is refilled with time. */
struct user_rate {
	uid_t uid;
	uint64_t at_ns;
	double credit;
	unsigned blocked_threads; /* while receiving what this user pushed */
};

/* Counters about the agent itself. */
struct agent_counts {
	uint64_t refused, dropped; /* requests; clients that did not read, or sent garbage */
	uint64_t late_ticks;
};

struct agent {
	struct agent_config config; /* owned */
	struct rules *rules;        /* owned */
	struct cgroup_target root;
	struct books books;
	struct loop loop;
	struct loop_source sources[NR_AGENT_SOURCES];
	struct stream stream;
	struct archive archive;
	struct handover handover;
	struct node node;
	struct peer *peers; /* owned */
	size_t nr_peers;
	struct user_rate rates[AGENT_USERS];
	struct agent_counts counts;
	struct notices notices;
	struct watchdog watchdog;
	uint64_t due_ns;     /* next sample of the node, CLOCK_MONOTONIC */
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	bool stops, reloads;
	bool has_no_room; /* for another descriptor: accepting is paused */
	bool is_private;  /* has one owner, which passes the connections of clients */
	struct porter_link porter;
	uint64_t last_order_id;      /* to the porter */
	struct title_search *naming; /* for names of jobs; owned; NULL: none goes on */
	uint64_t naming_since_ns;
	unsigned stuck_searches; /* given up; their threads may wait for a process */
	struct message clients;  /* message being received from the owner of a private agent */
};

struct agent_options {
	const char *config; /* its path; NULL for CONFIG_PATH, if that file exists */
	/* Configuration of a private agent, in place of a file; else NULL. Not owned. */
	const struct agent_config *given;
	struct porter_link porter; /* fd -1 for a private agent, which trusts its clients */
	int clients_fd;         /* of a private agent: receives connections; EOF ends the agent */
	int history_stream_fd;  /* to the historian; -1 if no history is kept. Not owned */
	int history_control_fd; /* likewise */
	const char *no_history; /* why it is not kept, although configured; NULL; not owned */
	bool hands_over; /* a restart ends no run, if the service manager keeps descriptors */
	unsigned inject_misses;   /* events ignored of 1000, for tests */
	struct refusals refusals; /* likewise */
	bool verbose;
};

/*
 * Reads the configuration, loads the programs, adopts all tasks of the node, and drops the rights
 * that are not needed later. @a must be zero but for its descriptors, which are -1. Returns 0 or a
 * negative errno; @why is then a sentence without a full stop, or empty where the errno suffices.
 */
int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size);
/* Also needed after a failed agent_open(). */
void agent_close(struct agent *a);
/*
 * Reads the configuration again and applies its clients, limits and rules; socket, hierarchy and
 * max_tasks need a restart. Returns 0, or a negative errno with nothing changed.
 */
int agent_reload_config(struct agent *a, char *why, size_t size);

/*
 * Runs until SIGTERM or SIGINT; a private agent sends CONTROL_READY to @clients_fd and runs until
 * its owner closes that. Returns 0, or a negative errno that has been logged.
 */
int agent_run(const struct agent_options *o);

/* Takes one request from the credit of @uid. Returns false if the user has exceeded its rate. */
bool agent_take_request_credit(struct agent *a, uid_t uid);
/*
 * Returns how many more bytes may be held for the user of @p, in queues and received messages.
 * Admins have no limit.
 */
size_t agent_spare_bytes(const struct agent *a, const struct peer *p);
/*
 * Counts a thread that stays blocked while receiving what @uid pushed; with too many the user may
 * not push.
 */
void agent_count_blocked_thread(struct agent *a, uid_t uid);
bool agent_may_push(struct agent *a, uid_t uid);
/* Returns the number of runs and subscriptions of the user @uid. */
size_t agent_count_jobs(const struct agent *a, uid_t uid);
/*
 * Writes the meta lines and stalls of all jobs that @l may see, and their last samples if
 * @with_samples.
 */
void agent_greet(struct agent *a, struct listener *l, bool with_samples);
/* Reads names and limits of jobs that have just begun, and sends a meta line for a change. */
void agent_describe_jobs(struct agent *a);
void agent_end_naming(struct agent *a);
/*
 * Writes the line about the agent itself to @l, or if that is NULL to all listeners that see all
 * jobs.
 */
void agent_report(struct agent *a, struct listener *l);

/*
 * Raises the limit of descriptors to what the system allows; called once, before the agent serves.
 */
void descriptors_raise_limit(void);
/*
 * Drops the client that has been silent longest, among those of the user with the most connections.
 * Its place is free in the next turn of the loop. Returns false if no client is silent.
 */
bool places_free_one(struct agent *a);

#endif
