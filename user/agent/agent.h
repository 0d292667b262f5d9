/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The node agent: one set of books for all tasks of the machine, the jobs that cgroups make of
 * them, and the clients that run or follow jobs through a socket. It opens no path that a client
 * names, executes nothing, and waits for no client.
 */
#ifndef AGENT_AGENT_H
#define AGENT_AGENT_H

#include "agent/archive.h"
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

#define AGENT_USERS 256 /* with a count of requests; more share one */

/* How often a user has asked, as credit that comes back with time. */
struct user_rate {
	uid_t uid;
	uint64_t at_ns;
	double credit;
	unsigned hanging; /* threads that wait for what this user has sent */
};

/* What the agent reports of itself. */
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
	struct node node;
	struct peer *peers; /* owned */
	size_t nr_peers;
	struct user_rate rates[AGENT_USERS];
	struct agent_counts counts;
	struct unseen unseen;
	bool has_logged_gaps;
	struct watchdog watchdog;
	uint64_t due_ns;     /* CLOCK_MONOTONIC: the next sample of the node */
	uint64_t started_ns; /* CLOCK_MONOTONIC */
	bool stops, reloads;
	bool has_no_room; /* for another descriptor: no client is accepted for a while */
	bool is_private;  /* it has one owner, which sends it its clients, */
	struct porter_link porter;
	uint64_t last_asked;    /* of the porter */
	struct message clients; /* the next of which is being received */
};

struct agent_options {
	const char *config; /* its path; NULL: CONFIG_PATH, if it is there */
	/* of a private agent: in place of a file; NULL: it is none. Not owned */
	const struct agent_config *given;
	struct porter_link porter; /* its fd is -1: none, for a private agent, which trusts its
				    * clients */
	int clients_fd;            /* of that one: its clients come there, and it ends with it */
	int history_stream_fd;     /* of the historian; -1: jobs are not kept. Not owned */
	int history_control_fd;    /* the same */
	unsigned inject_misses;    /* thousandths of the events to ignore, for tests */
	bool verbose;
};

/*
 * Reads the configuration, loads the programs, finds all tasks of the node, drops what rights are
 * not needed from then on. @a: zero but for its descriptors, which are -1. Returns a negative errno
 * on failure; @why is a sentence without a full stop, or empty where the number says it all.
 */
int agent_open(struct agent *a, const struct agent_options *o, char *why, size_t size);
/* Also after a failure of agent_open(). */
void agent_close(struct agent *a);
/*
 * Reads the configuration of @a again: what it has for clients, limits and rules holds from now on;
 * socket, hierarchy and max_tasks need a restart. Returns 0; or a negative errno, and nothing has
 * changed.
 */
int agent_configure_again(struct agent *a, char *why, size_t size);

/* Runs until SIGTERM or SIGINT, a private one until its owner closes @clients_fd, to which it sends
 * CONTROL_READY. 0; or a negative errno, which has been reported. */
int agent_run(const struct agent_options *o);

/* False: that user has asked too often. */
bool agent_may_ask(struct agent *a, uid_t uid);
/* The bytes that more may be held for the user of @p, in queues and in what its clients have sent;
 * admins have no bound. */
size_t agent_spare_of(const struct agent *a, const struct peer *p);
/* Those threads stay: a user with too many of them cannot push any more. */
void agent_note_hanging(struct agent *a, uid_t uid);
bool agent_may_push(struct agent *a, uid_t uid);
/* How many runs and subscriptions the user @uid has. */
size_t agent_jobs_of(const struct agent *a, uid_t uid);
/* Writes the meta lines of all jobs that @l may see, @with_samples with what they have used. */
void agent_greet(struct agent *a, struct listener *l, bool with_samples);
/* Writes the line about the agent itself to @l, or to all that see all (NULL). */
void agent_report(struct agent *a, struct listener *l);

/* To be called once, before the agent serves: it may have as many descriptors as the system allows.
 */
void places_allow_descriptors(void);
/*
 * Drops the client that has been silent for the longest of those of the user who has the most
 * connections; its place is free with the next turn of the loop. Returns false if none is silent.
 */
bool places_make_one(struct agent *a);

#endif
