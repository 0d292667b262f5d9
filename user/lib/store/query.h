/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries of the runs in stores: lists of them, their lines, whether they are stalled. */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "run/stall_state.h"
#include "run/summary.h"
#include "store/database.h"

enum run_state {
	RUN_RUNNING,    /* it is being recorded */
	RUN_FINISHED,   /* its summary is there */
	RUN_UNFINISHED, /* its recorder has ended without a summary */
};

/* A row of the list. An unknown number is -1, an unknown string NULL. */
struct stored_run {
	size_t source; /* the caller's number of its store */
	int64_t id;
	char *uuid, *name, *job, *command, *user, *host, *note; /* owned */
	char *tags; /* owned; "key=value" each ended by NUL, and one more NUL at the end */
	uint64_t start_epoch_ns;
	uint64_t edited_ns; /* epoch, of the last edit of name, tags or note; 0: never */
	enum run_state state;
	bool is_complete;
	int64_t exit_code, signal, wall_ns, cpu_ns, rss_peak_bytes, processes, lines_lost;
	struct memory_needed needed; /* unknown without a witness */
	struct stall_state *stall;   /* owned; NULL unless it is running and stalled */
};

struct stored_runs {
	struct stored_run *runs; /* owned */
	size_t nr, room;
};

enum state_filter { ANY_STATE, ONLY_RUNNING, ONLY_FINISHED, ONLY_UNFINISHED, ONLY_FAILED };
enum run_order { BY_START, BY_WALL, BY_CPU, BY_MEMORY, BY_NAME };

/* A member that is NULL or 0 accepts every run. */
struct run_filter {
	int64_t id;
	const char *uuid;                 /* its beginning */
	const char *name, *host;          /* patterns with * and ? */
	const char *job, *user, *command; /* command: a part of it */
	const char *exact_name;
	const char *span;        /* pattern for the name of one of its spans */
	const char *const *tags; /* key, or key=value */
	size_t nr_tags;
	const char *const *words; /* each must be in name, command or note; case does not count */
	size_t nr_words;
	enum state_filter state;
	uint64_t since_ns;
	bool is_of_uid; /* only those of the user @uid */
	uint32_t uid;
};

/* Appends the runs that pass the filter, the newest first. Errors as database_open(). */
int query_runs(struct database *d, size_t source, const struct run_filter *f,
	       struct stored_runs *all);
/*
 * Updates @stall from the events of the run @id after the number *@last, and sets *@last to the
 * newest one; start with INT64_MIN. Without an event of a stall @stall does not change. Errors as
 * database_open().
 */
int query_stall(struct database *d, int64_t id, int64_t *last, struct stall_state *stall);
/* Returns the memory that the run needed; -1 if it is unknown. */
int64_t run_needed_bytes(const struct stored_run *r);
bool stored_run_is(const struct stored_run *r, enum state_filter state);
void stored_run_done(struct stored_run *r);
/* Appends @r, with ownership of its strings. -ENOMEM. */
int stored_runs_append(struct stored_runs *all, const struct stored_run *r);
/*
 * Drops all but one of the runs with the same UUID. A finished one is preferred, then a running
 * one; then the last edited, then the one of the first store. -ENOMEM.
 */
int stored_runs_unique(struct stored_runs *all);
/* Drops runs in other states. -ENOMEM. */
int stored_runs_select(struct stored_runs *all, enum state_filter state);
/* Drops runs that lack a word of the filter. -ENOMEM. */
int stored_runs_search(struct stored_runs *all, const struct run_filter *f);
/* Sorts runs: the largest or newest first, names in the order of the alphabet. */
void stored_runs_sort(struct stored_runs *all, enum run_order order);
void stored_runs_done(struct stored_runs *all);

struct run_text {
	char *meta, *summary; /* lines, owned; @summary is NULL if the run has none */
	int64_t lines_lost;   /* lines that did not reach the store */
};

/* Reads the lines of a run. -ENOENT: there is no such run; errors as database_open(). On error @t
 * is empty. */
int query_text(struct database *d, int64_t id, struct run_text *t);
void run_text_done(struct run_text *t);

enum run_line { TEXT_META, TEXT_SUMMARY };

/* Receives a line of the run at the index @at of a list; @line is valid until it returns. */
typedef void (*line_take)(void *context, size_t at, const char *line);
/*
 * Passes a line of each run of the store @source in @all to @take, in their order, without a copy:
 * lists may be long. Runs without that line, or removed meanwhile, are skipped. Errors as
 * database_open().
 */
int query_lines(struct database *d, size_t source, const struct stored_runs *all,
		enum run_line which, line_take take, void *context);

#endif
