/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Live data of running runs for pages in browsers. One thread polls the stores and makes the text
 * of each new sample once. Each client has a position in the texts of its run. If texts are dropped
 * that a client has not read, it must reload the page.
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
#define PULSE_TEXTS 512 /* texts kept per run */

struct pulse_text {
	atomic_uint users;
	uint64_t at_ns; /* time of the sample */
	size_t bytes;
	char text[];
};

struct pulse_run {
	char *path; /* owned path of the store or socket of the agent; NULL if this entry is free */
	int64_t id;
	char uuid[PULSE_UUID_BYTES]; /* of a job of the node, otherwise empty */
	int fd;                      /* owned stream of the agent, for such a job */
	unsigned clients;
	uint64_t idle_since_ns; /* when the last client left */
	/* used only by the thread */
	struct database d;
	bool is_open;
	int64_t version; /* of the data of the store */
	uint64_t checked_ns;
	unsigned polls, failures;
	struct report_charts charts;
	struct line_stream lines; /* of a job of the node */
	uint64_t ended_ns;        /* when the job ended; 0 before */
	int64_t events_read;      /* number of the last event that was read */
	struct stall_state stall; /* state after these events */
	/* protected by the lock */
	uint64_t last_ns;  /* time of the latest sample */
	uint64_t first_ns; /* all samples after this time have a text */
	bool is_filled, has_ended, has_failed, is_leaving;
	uint64_t made; /* number of the next text */
	struct pulse_text *texts[PULSE_TEXTS];
};

struct pulse {
	pthread_mutex_t lock;
	pthread_cond_t news; /* wakes clients */
	pthread_cond_t work; /* wakes the thread for a new run */
	pthread_cond_t rest; /* ends the sleep of the thread at shutdown */
	pthread_t thread;
	bool is_started;
	atomic_bool is_ending;
	unsigned clients;
	struct pulse_run runs[PULSE_RUNS];
};

struct pulse_client;

/*
 * A source of live data: run @id of the store @path, or the job @uuid of the node, whose lines are
 * read from @fd.
 */
struct pulse_subject {
	const char *path; /* socket of the agent for a job of the node */
	int64_t id;
	const char *uuid; /* NULL for a run in a store */
	int fd;           /* pulse_open() takes ownership */
};

/* Returns 0 or a negative errno. */
int pulse_start(struct pulse *p);
/*
 * Adds a client that has the samples up to @after_ns. Returns NULL if there are too many clients,
 * or without memory.
 */
struct pulse_client *pulse_open(struct pulse *p, const struct pulse_subject *s, uint64_t after_ns);
/*
 * Reads the next bytes for a client, a comment after some time without any. Returns 0 at the end of
 * the run.
 */
ssize_t pulse_read(struct pulse_client *c, char *out, size_t most);
void pulse_close(struct pulse_client *c);
/* Makes pulse_read() return 0 to all clients. */
void pulse_end(struct pulse *p);
/* Stops the thread. No client may be left. */
void pulse_stop(struct pulse *p);

#endif
