/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A client of the agent: its user, what it asks for, and what it gets. It has sent a request over
 * its connection, as a launcher sends one to its collector, with a socket for the lines.
 */
#ifndef AGENT_PEER_H
#define AGENT_PEER_H

#include "agent/agent_stream.h"
#include "base/loop.h"
#include "measure/tenant.h"

struct agent;

enum peer_state {
	PEER_NEW,      /* its request has not come */
	PEER_WAITS,    /* its job is followed; description and start have not come */
	PEER_RUNS,     /* its job runs */
	PEER_LEAVES,   /* its job is over: the last lines are written */
	PEER_LISTENS,  /* to jobs of the node */
	PEER_FINISHES, /* nothing more is put into its feed */
	PEER_GONE,     /* to be removed */
};

struct peer {
	struct peer *next; /* not owned */
	struct agent *agent;
	struct loop_source source; /* its connection, owned */
	uid_t uid;
	gid_t gid;
	char user[64];
	bool is_admin; /* root, or of the group that the configuration names */
	enum peer_state state;
	uint64_t asked; /* what the porter is to answer; 0: nothing */
	/* Called with its answer: a packet, or a negative errno, why there is none. */
	void (*answered)(struct peer *p, int err, const struct control *packet);
	bool wants_porter;         /* it has not been asked yet */
	struct message message;    /* the one that is being received */
	size_t described_bytes;    /* of the description that was taken, which is kept */
	struct feed_budget budget; /* of its feeds: that of its user */
	struct tenant *tenant;     /* owned; of a run of its own */
	struct subject subject;    /* that run, in the stream of the node */
	uint64_t due_ns, end_ns;   /* CLOCK_MONOTONIC: its next sample; when an attachment ends */
	bool may_be_empty;         /* the last process of its run may have ended */
	struct listener listener;
	struct loop_source listening; /* its feed */
	struct node_job *follows;     /* the only one that it listens to; NULL: all */
	bool listener_waits;          /* for EPOLLOUT */
	uint64_t until_ns;            /* CLOCK_MONOTONIC: then it is dropped; 0: no limit */
};

/* Takes the connection @fd, which it owns from then on, or refuses it. */
void peer_accept(struct agent *a, int fd);
/* Takes a sample of its run, of the last drain. */
void peer_publish(struct peer *p);
/* To be called before and after the loop has waited. */
void peer_prepare(struct peer *p);
void peer_attend(struct peer *p);
/* The longest wait until the next peer_attend(), no more than @wait_ms (-1: no limit). */
int peer_wait(struct peer *p, int wait_ms);
/* Ends its run, which is incomplete for @reason. */
void peer_stop(struct peer *p, const char *reason);
/* False: its removal would wait now. */
bool peer_may_be_removed(struct peer *p);
/* Releases all, the peer itself included. */
void peer_remove(struct peer *p);

/* The user of a client of the agent, as the kernel reports it, and whether the agent serves it. */

/* The run of a client begins: its job, its line in the stream of the node, its spans. */

#endif
