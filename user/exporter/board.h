/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the endpoint shows: the tables of runs, of job series, and of totals by user. A run is what
 * one meta line begins. A series has the values of all runs with the same labels. Counters are
 * added up by what they have grown, so that no total falls whatever a run does: a value that is
 * lower than an earlier one adds nothing.
 *
 * The caller of each function but board_init() holds the lock. All times are of one monotonic
 * clock.
 */
#ifndef EXPORTER_BOARD_H
#define EXPORTER_BOARD_H

#include "base/buffer.h"
#include "run/metric.h"
#include "run/sample.h"
#include "run/summary.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Finds entries by their name. The entries are members of the structs that they find. */

struct name_entry {
	struct name_entry *next; /* of those in the same place */
	char *name;              /* owned; NULL: in no index */
};

#define NAME_PLACES 4096

struct name_index {
	struct name_entry *places[NAME_PLACES];
	uint64_t seed; /* nobody who chooses names can choose their places */
	size_t nr;
};

#define BOARD_RUNS 16384   /* known at a time; further ones are refused */
#define BOARD_WAITING 4096 /* ended runs that no scrape has seen yet */
#define BOARD_USERS 4096   /* pairs of user and kind; further users have no label */
#define BOARD_SCRAPES 2    /* that see an ended series before it goes */
#define LABEL_BYTES 256    /* of a job, user, kind or name, which are cut */

/* A line of the exposition for each metric. */
struct series {
	struct name_entry entry; /* by its labels */
	struct buffer labels;    /* owned; {job="...",...}, or empty */
	uint64_t value[NR_METRICS];
	struct metric_set have; /* of gauges: since board_add_gauges() */
	struct series *next;
	bool is_own; /* of one set of labels; else of all that have none, and kept for good */
	size_t runs; /* that have not ended */
	uint64_t live, stalled; /* of these, as of board_prepare() */
	uint64_t ended_ns;      /* if there are none */
	unsigned scrapes;       /* since then */
};

struct job_labels {
	char job[LABEL_BYTES], user[LABEL_BYTES], kind[LABEL_BYTES], name[LABEL_BYTES];
};

enum run_state {
	RUN_LIVE,
	RUN_SILENT, /* nothing is heard of it, as while the stream is down: its gauges are unknown
		     */
	RUN_ENDED   /* and waits for a series */
};

struct shown_run {
	struct name_entry entry; /* by the key "run" of its lines */
	struct shown_run *next, *previous;
	struct job_labels labels;
	enum run_state state;
	bool is_stalled;
	uint64_t start_epoch_ns, silence_ns;
	uint64_t heard_ns, state_ns; /* when its last line came, and its state changed */
	uint64_t value[NR_METRICS];
	struct metric_set have;
	struct series *series; /* NULL: not decided yet */
	struct series *user;   /* NULL: of the node */
};

/* What the agent has last reported of itself. */
struct agent_state {
	bool is_up; /* its stream is open */
	uint64_t value[NR_AGENT_METRICS];
	bool has[NR_AGENT_METRICS]; /* absent keys are absent metrics */
	struct loss_count losses[MAX_LOSSES];
	size_t nr_losses;
};

struct board_counts {
	uint64_t lines, lines_refused, runs_refused, jobs_summed, streams;
};

struct board {
	pthread_mutex_t lock;
	size_t max_series;
	uint64_t keep_ns;
	struct name_index runs, series, users;
	struct shown_run *first;
	struct series *first_series, *first_user; /* in no order */
	struct series node;
	size_t nr_own; /* series of jobs that have one of their own */
	size_t nr_waiting;
	struct agent_state agent;
	uint64_t connected_ns;
	struct board_counts counts;
};

/* What a meta line says. */
struct run_begin {
	const char *run;
	struct job_labels labels;
	uint64_t start_epoch_ns, interval_ns;
};

/* @max_series: of jobs; further ones are summed. @keep_ns: how long what has ended stays. */
void board_init(struct board *b, size_t max_series, uint64_t keep_ns);
void board_done(struct board *b);

/* The stream is open, or has ended. */
void board_connect(struct board *b, uint64_t now_ns);
void board_disconnect(struct board *b, uint64_t now_ns);
/*
 * A run begins; or, if its key and its start are known, goes on after the stream was down. One with
 * a known key and another start replaces the other, which has ended. -ENOMEM; -ENFILE: there are
 * BOARD_RUNS.
 */
int board_begin_run(struct board *b, const struct run_begin *begin, uint64_t now_ns);
/* Takes its counters and gauges; a summary's are its last ones. -ENOENT: its meta is not known. */
int board_sample_run(struct board *b, const char *run, const struct sample *s, uint64_t now_ns);
/* It is stalled from now on, or not any more. -ENOENT. */
int board_stall_run(struct board *b, const char *run, bool is_stalled);
int board_end_run(struct board *b, const char *run, const struct sample *total, uint64_t now_ns);
/* What time alone changes: ends runs of which nothing is heard, removes what has been kept for long
 * enough. */
void board_tick(struct board *b, uint64_t now_ns);

/* Before a scrape: decides which runs have a series of their own, the largest first, and adds up
 * the gauges. -ENOMEM: some runs are not in it. */
int board_prepare(struct board *b, uint64_t now_ns);
/* After a scrape: it has seen each series. */
void board_count_scrape(struct board *b);

#endif
