/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of the agent: its user, its request and its feeds. It sends a request over its
 * connection as a launcher does to its collector, with a socket for the lines.
 */
#ifndef AGENT_PEER_H
#define AGENT_PEER_H

#include "agent/agent_stream.h"
#include "base/loop.h"
#include "measure/tenant.h"
#include "run/request.h"

struct agent;

enum peer_state {
	PEER_NEW,      /* no request yet */
	PEER_WAITS,    /* its job is tracked, but description and start are missing */
	PEER_RUNS,     /* its job runs */
	PEER_LEAVES,   /* its job has ended: the last lines are being written */
	PEER_LISTENS,  /* listens to jobs of the node */
	PEER_FINISHES, /* its feed gets no more lines */
	PEER_GONE,     /* to be removed */
};

struct peer {
	struct peer *next; /* not owned */
	struct agent *agent;
	struct loop_source source; /* the connection; owned */
	uid_t uid;
	gid_t gid;
	char user[64];
	bool is_admin; /* root, or in the group that the configuration names */
	enum peer_state state;
	uint64_t order_id; /* id of the pending order to the porter; 0 if none */
	/* Called with the porter's answer: a packet, or a negative errno if there is none. */
	void (*answered)(struct peer *p, int err, const struct control *packet);
	bool has_unsent_order;  /* an order to the porter is still to be sent */
	struct message message; /* being received */
	/* its request, for the next agent; owned; NULL if there is none */
	char *request;
	size_t request_bytes, request_fds;
	size_t described_bytes;    /* size of the accepted description, which is kept */
	struct feed_budget budget; /* of its feeds; shared by all clients of its user */
	struct tenant *tenant;     /* owned; set for a run of its own */
	struct subject subject;    /* that run, in the stream of the node */
	uint64_t due_ns, end_ns;   /* CLOCK_MONOTONIC: next sample; end of an attachment */
	bool may_be_empty;         /* the last process of its run may have exited */
	struct listener listener;
	struct loop_source listening; /* socket of its feed */
	struct node_job *follows;     /* the only job it listens to; NULL for all */
	bool listener_waits;          /* for EPOLLOUT */
	uint64_t until_ns;            /* CLOCK_MONOTONIC: when it is dropped; 0: never */
};

/* Makes a peer of the connection @fd, which it then owns, or refuses and closes it. */
void peer_accept(struct agent *a, int fd);
/* Makes a peer of @fd as peer_accept(), without a check of its rights. Returns NULL if it cannot.
 */
struct peer *peer_new(struct agent *a, int fd);
/* Finds the user at the other end and its rights. Returns 0 or a negative errno. */
int peer_find_user(struct peer *p);
/* Its job runs: from now on it is part of the stream of the node. */
void peer_began(struct peer *p);
/* Makes a sample of its run from the last drain. */
void peer_publish(struct peer *p);
/* Called before and after the loop waits. */
void peer_prepare(struct peer *p);
void peer_attend(struct peer *p);
/* Returns the time until peer_attend() is due, at most @wait_ms (-1: no limit). */
int peer_wait(struct peer *p, int wait_ms);
/* Ends its run, marked incomplete for @reason. */
void peer_stop(struct peer *p, const char *reason);
/* Returns false if removing the peer would block now. */
bool peer_may_be_removed(struct peer *p);
/* Releases everything, including the peer itself. */
void peer_remove(struct peer *p);
/*
 * Executes the request in p->message and empties it. Returns 0 if the client may go on, or a
 * negative errno with a sentence without a full stop for the client in @why.
 */
int peer_execute_request(struct peer *p, char *why, size_t size);

/* What the next agent does with a request again: */

/* Sets rights and feed of a run whose assignment has been taken. */
void peer_prepare_run(struct peer *p, const struct request *r);
/* Makes the stream of the request the feed of its listener. Returns 0 or a negative errno. */
int peer_open_listener(struct peer *p, struct request *r);
/* Subscribes to samples with all live processes; those of the last sample are sent at once. */
void peer_listen_to_processes(struct peer *p, struct tally_view *v);
/* Keeps the text of the request for the next agent. Without memory, a restart ends the run. */
void peer_keep_request(struct peer *p, const char *text, size_t length, size_t nr_fds);
/* Closes the sockets of @r that were not moved. */
void peer_close_sockets(struct peer *p, struct request *r);

#endif
