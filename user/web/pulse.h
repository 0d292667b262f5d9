/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Runs under way, for pages that follow them. One thread polls their stores and makes the text of
 * each new sample once; each client has its place in the texts, and what it has not taken when they
 * are dropped it fetches anew, with the page.
 */
#ifndef WEB_PULSE_H
#define WEB_PULSE_H

#include "base/line_stream.h"
#include "page/charts.h"
#include "store/query.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#define PULSE_RUNS 16
#define PULSE_CLIENTS 64 /* of all runs */
#define PULSE_UUID_BYTES 40
#define PULSE_TEXTS 512 /* that are kept of a run */

struct pulse_text {
	atomic_uint users;
	uint64_t at_ns; /* of its sample */
	size_t bytes;
	char text[];
};

struct pulse_run {
	char *path; /* owned; of its store, or the agent's socket. NULL: the place is free */
	int64_t id;
	char uuid[PULSE_UUID_BYTES]; /* of a job of the node; else empty */
	int fd;                      /* owned; the stream of the agent, of such a job */
	unsigned clients;
	uint64_t idle_since_ns; /* of the last client */
	/* of the thread alone */
	struct database d;
	bool is_open;
	int64_t version; /* of the store's data */
	uint64_t checked_ns;
	unsigned polls, failures;
	struct report_charts charts;
	struct line_stream lines; /* of a job of the node */
	uint64_t ended_ns;        /* since when it has ended; 0: it goes on */
	int64_t events_read;      /* up to the event of that number */
	struct stall_state stall; /* as these have it */
	/* with the lock */
	uint64_t last_ns;  /* of its newest sample */
	uint64_t first_ns; /* texts of all samples after this one were made */
	bool is_filled, has_ended, has_failed, is_leaving;
	uint64_t made; /* texts: the next one's number */
	struct pulse_text *texts[PULSE_TEXTS];
};

struct pulse {
	pthread_mutex_t lock;
	pthread_cond_t news; /* for clients */
	pthread_cond_t work; /* for the thread: there is a run */
	pthread_cond_t rest; /* it ends early when all does */
	pthread_t thread;
	bool is_started;
	atomic_bool is_ending;
	unsigned clients;
	struct pulse_run runs[PULSE_RUNS];
};

struct pulse_client;

/* What is followed: the run @id of the store @path, or the run @uuid of the node, whose lines come
 * at @fd. */
struct pulse_subject {
	const char *path; /* of the latter the socket of its agent */
	int64_t id;
	const char *uuid; /* NULL: it is in a store */
	int fd;           /* becomes the pulse's */
};

/* 0, or a negative errno. */
int pulse_start(struct pulse *p);
/* A client, which has the samples up to @after_ns. NULL: there are too many, or no memory. */
struct pulse_client *pulse_open(struct pulse *p, const struct pulse_subject *s, uint64_t after_ns);
/* The next bytes for it, after some time a comment; 0 at the end, when the run has ended. */
ssize_t pulse_read(struct pulse_client *c, char *out, size_t most);
void pulse_close(struct pulse_client *c);
/* Lets all clients come to their end. */
void pulse_end(struct pulse *p);
/* Stops the thread, once no client is left. */
void pulse_stop(struct pulse *p);

#endif
