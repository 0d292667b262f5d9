/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the agent reports, for the programs that show it: tables of runs, of job series, of ended
 * jobs, and of totals by user. A meta line begins a run; a series sums all runs with the same
 * labels. Counters are summed by their increments, and a value lower than an earlier one adds
 * nothing, so no total ever falls.
 *
 * A run is in the common series until a scrape finds it alive and there is room for a series of its
 * own; what it used before stays in the common one if it was assigned to that. Series of ended jobs
 * make room for those of live ones.
 *
 * The caller of every function but board_init() holds the lock. All times are of one monotonic
 * clock.
 */
#ifndef BOARD_BOARD_H
#define BOARD_BOARD_H

#include "board/ended.h"
#include "board/job_series.h"
#include "run/metric.h"
#include "run/sample.h"
#include "run/summary.h"

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define BOARD_RUNS 16384   /* known at a time; further ones are refused */
#define BOARD_WAITING 4096 /* ended runs that no scrape has read yet */
#define BOARD_USERS 4096   /* pairs of user and kind; further users get no label */
#define BOARD_SCRAPES 2    /* that read an ended series or job before it is removed */
#define BOARD_SILENT_INTERVALS 3
#define BOARD_NAMING_INTERVALS 6 /* after which a container has its names, if it is in a pod */

enum run_state {
	RUN_LIVE,
	RUN_SILENT, /* no lines, as while the stream is down: gauges unknown */
	RUN_ENDED   /* waits for a series */
};

struct shown_run {
	struct name_entry entry; /* key: "run" of its lines */
	struct shown_run *next, *previous;
	struct job_labels labels;
	enum run_state state;
	bool is_stalled;
	uint64_t start_epoch_ns, silence_ns;
	uint64_t end_epoch_ns; /* of its summary; 0 before */
	uint64_t age_ns;       /* of its last sample */
	struct job_bounds bounds;
	uint64_t last_line_ns, state_ns; /* last line, last change of state */
	uint64_t value[NR_METRICS];
	struct metric_set have;
	struct series *series; /* NULL until it is assigned */
	struct series *user;   /* NULL for the node */
};

/* The last report of the agent about itself. */
struct agent_state {
	bool is_up; /* its stream is open, and not silent */
	uint64_t value[NR_AGENT_METRICS];
	bool has[NR_AGENT_METRICS]; /* a key that is absent makes no metric */
	struct loss_count losses[MAX_LOSSES];
	size_t nr_losses;
};

struct board_counts {
	uint64_t lines, lines_refused, runs_refused, jobs_summed, jobs_promoted, ended_dropped,
		streams;
};

struct board {
	pthread_mutex_t lock;
	const struct board_style *style; /* not owned */
	size_t max_series;
	uint64_t keep_ns;
	struct name_index runs;
	struct shown_run *first;
	struct series_list series, users;
	struct series node;
	size_t nr_own; /* series of jobs with labels of their own */
	bool is_full;  /* so many, and none can go: found while runs are assigned */
	size_t nr_waiting;
	struct ended_jobs ended;
	struct agent_state agent;
	bool is_open; /* the stream */
	uint64_t connected_ns;
	uint64_t began_epoch_ns;                   /* when the first stream was opened */
	uint64_t last_line_ns, last_line_epoch_ns; /* the latter is 0 before the first */
	uint64_t interval_ns;                      /* of the last run that began; 0 if unknown */
	struct board_counts counts;
};

/* What differs between the programs that show a board. */
struct board_style {
	/*
	 * Appends the labels of a series as the program writes them, without those that are empty.
	 * Sets @t->failed if out of memory.
	 */
	void (*put_labels)(struct buffer *t, const struct job_labels *l);
	/*
	 * Takes the figures of a job that has ended, at @epoch_ns. Returns 0 or -ENOMEM. If it is
	 * NULL, the board keeps them (board.ended).
	 */
	int (*end_job)(void *context, const struct job_labels *l, const struct ended_values *values,
		       uint64_t epoch_ns);
	void *context;     /* of end_job() */
	uint64_t least_ns; /* jobs that are younger have no series of their own */
};

/* The content of a meta line. */
struct run_begin {
	const char *run;
	struct job_labels labels;
	uint64_t start_epoch_ns, interval_ns;
	struct job_bounds bounds;
};

/*
 * @style must outlive the board. @max_series limits the series of jobs; the runs of further jobs
 * are summed. @keep_ns is the time for which ended runs and series are kept.
 */
void board_init(struct board *b, const struct board_style *style, size_t max_series,
		uint64_t keep_ns);
void board_done(struct board *b);

/* Called when the stream was opened, or has ended. */
void board_connect(struct board *b, uint64_t now_ns);
void board_disconnect(struct board *b, uint64_t now_ns);
/* Called for each valid line: without one for BOARD_SILENT_INTERVALS the agent is not up. */
void board_note_line(struct board *b, uint64_t now_ns);
/*
 * Begins a run, or continues it if its key and start are known from before the stream was down, or
 * because names or limits became known: labels change until it has a series of its own. A known
 * key with another start replaces the earlier run, which is ended. Returns 0, -ENOMEM, or
 * -ENFILE at BOARD_RUNS runs.
 */
int board_begin_run(struct board *b, const struct run_begin *begin, uint64_t now_ns);
/*
 * Updates the counters and gauges of a run; a summary has the last ones. Returns -ENOENT if the run
 * is not known.
 */
int board_sample_run(struct board *b, const char *run, const struct sample *s, uint64_t now_ns);
/* Sets or clears the stalled state of a run. Returns -ENOENT if it is not known. */
int board_stall_run(struct board *b, const char *run, bool is_stalled);
/* Ends a run with its totals. Returns -ENOENT if it is not known, or -ENOMEM. */
int board_end_run(struct board *b, const char *run, const struct sample *total,
		  const struct ended_values *values, uint64_t now_ns);
/* Ends runs that have been silent for too long, and removes what has been kept long enough. */
void board_tick(struct board *b, uint64_t now_ns);

/*
 * Called before a scrape: gives the largest live runs series of their own and sums the gauges.
 * Returns -ENOMEM if some runs are missing.
 */
int board_prepare(struct board *b, uint64_t now_ns);
/* Called after a scrape: counts it for each series. */
void board_count_scrape(struct board *b);

/* assign.c: which series the runs of a board are part of. */

/*
 * Assigns all live runs whose use is known, the largest first, to series of their own, also those
 * that are in the common series so far, as far as there is room; the others and ended runs to the
 * common series. Removes the ended ones. Returns 0 or -ENOMEM.
 */
int board_assign_runs(struct board *b);
/* Assigns ended runs alone. Returns 0 or -ENOMEM. */
int board_assign_ended(struct board *b);
/*
 * Finds or adds the series of the user and kind in @l; one that is added begins at @began_epoch_ns.
 * Returns NULL if out of memory.
 */
struct series *board_user(struct board *b, const struct job_labels *l, uint64_t began_epoch_ns);
/* Returns true for a run of what no rule matches. */
bool run_is_rest(const struct shown_run *r);
/* Removes the run; its values stay in its series. */
void board_remove_run(struct board *b, struct shown_run *r);
/* Notes that the run has left the series, as it has ended or was promoted. */
void series_end_run(struct series *s, const struct shown_run *r, uint64_t now_ns);
/* Removes series whose jobs have ended and that were kept for long enough. */
void board_expire(struct board *b, uint64_t now_ns);

#endif
