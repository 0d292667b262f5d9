/* SPDX-License-Identifier: BSD-2-Clause */
/* Queries the runs in a store: lists of runs, their states, meta and summary lines, and stalls. */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "run/stall_state.h"
#include "run/summary.h"
#include "store/database.h"

#include <stdbool.h>

/* How a run ended, and the words for it in --state, lists, JSON and pages. */

enum run_state {
	RUN_RUNNING,    /* being recorded */
	RUN_FINISHED,   /* has a summary */
	RUN_UNFINISHED, /* its recorder has exited without a summary */
};

/* What made a run fail, if it is known. */
enum run_cause { CAUSE_NONE, CAUSE_LIMIT, CAUSE_OOM };

/* Also numbers of the agent's messages: new ones are added at the end. */
enum state_filter {
	ANY_STATE,
	ONLY_RUNNING,
	ONLY_FINISHED, /* all that have ended */
	ONLY_UNFINISHED,
	ONLY_FAILED, /* all of them, whatever the cause */
	ONLY_ENDED,  /* without a failure */
	ONLY_SIGNAL,
	ONLY_LIMIT,
	ONLY_OOM,
	NR_STATE_FILTERS
};

/* A run as in lists. Unknown numbers are -1, unknown strings NULL. */
struct stored_run {
	size_t source; /* index of its store, set by the caller */
	int64_t id;
	char *uuid, *name, *job, *command, *user, *host, *note; /* owned */
	char *tags; /* owned; "key=value" strings, each ended by NUL, and a final NUL */
	uint64_t start_epoch_ns;
	uint64_t edited_ns; /* epoch; last edit of name, tags or note; 0: never */
	enum run_state state;
	enum run_cause cause; /* of a failed run */
	bool is_complete;
	int64_t exit_code, signal, wall_ns, cpu_ns, rss_peak_bytes, processes, lines_lost;
	struct memory_needed needed; /* unknown if it has no witness */
	struct stall_state *stall;   /* owned; NULL unless it is running and stalled */
	double sort_value;           /* for BY_VALUE, set by the caller; NAN: unknown */
};

bool stored_run_is(const struct stored_run *r, enum state_filter state);
/* Returns the state that lists show: neither ANY_STATE nor ONLY_FINISHED. */
enum state_filter stored_run_state(const struct stored_run *r);
/* Returns the word of a state, as in --state, lists and JSON. */
const char *run_state_word(enum state_filter state);
/* The same of a run with this summary. */
enum state_filter summary_state(const struct summary *s, bool has_ended, bool is_running);
/* Returns why a run failed from its summary line. One that cannot be read says nothing. */
enum run_cause run_cause_read(const char *summary);

struct stored_runs {
	struct stored_run *runs; /* owned */
	size_t nr, room;
};

enum run_order { BY_START, BY_MEMORY, BY_NAME, BY_VALUE };

/* Members that are NULL or 0 match all runs. */
struct run_filter {
	int64_t id;
	const char *uuid;                 /* a prefix */
	const char *name, *host;          /* patterns with * and ? */
	const char *job, *user, *command; /* job: a pattern; command: a substring */
	const char *exact_name;
	const char *span;        /* pattern for the name of one of its spans */
	const char *const *tags; /* KEY or KEY=VALUE */
	size_t nr_tags;
	const char *const *words; /* each must be in name, command or note, in any case */
	size_t nr_words;
	enum state_filter state;
	uint64_t since_ns, ended_since_ns; /* epoch, of the start and of the end */
	bool is_of_uid;                    /* only runs of the user @uid */
	uint32_t uid;
};

/* Appends the runs that match the filter, the newest first. Errors as database_open(). */
int query_runs(struct database *d, size_t source, const struct run_filter *f,
	       struct stored_runs *all);
/*
 * Updates @stall from the events of the run @id after number *@last, INT64_MIN for all, and sets
 * *@last to the newest one. Without an event of a stall, @stall does not change. Errors as
 * database_open().
 */
int query_stall(struct database *d, int64_t id, int64_t *last, struct stall_state *stall);
/* Returns the memory that the run needed, in bytes; -1 if unknown. */
int64_t run_needed_bytes(const struct stored_run *r);
void stored_run_done(struct stored_run *r);
/* Appends @r and takes ownership of its strings. Returns 0 or -ENOMEM. */
int stored_runs_append(struct stored_runs *all, const struct stored_run *r);
/*
 * Drops duplicates: of runs with the same UUID, a finished one is kept before a running one, then
 * the last edited, then that of the first store. Returns 0 or -ENOMEM.
 */
int stored_runs_unique(struct stored_runs *all);
/* Drops runs in other states. Returns 0 or -ENOMEM. */
int stored_runs_select(struct stored_runs *all, enum state_filter state);
/* Drops runs that lack a word of the filter. Returns 0 or -ENOMEM. */
int stored_runs_search(struct stored_runs *all, const struct run_filter *f);
/* Sorts runs: the largest or newest first; BY_NAME alphabetically. */
void stored_runs_sort(struct stored_runs *all, enum run_order order);
void stored_runs_done(struct stored_runs *all);

struct run_text {
	char *meta, *summary; /* lines, owned; @summary may be NULL */
	int64_t lines_lost;   /* lines that were not stored */
};

/*
 * Reads the meta and summary lines of a run; free them with run_text_done(). Returns -ENOENT if
 * there is no such run; other errors as database_open(). On error @t is empty.
 */
int query_text(struct database *d, int64_t id, struct run_text *t);
void run_text_done(struct run_text *t);

enum run_line { TEXT_META, TEXT_SUMMARY };

/* Receives a line of run number @at of a list; @line is valid until it returns. */
typedef void (*run_line_fn)(void *context, size_t at, const char *line);
/*
 * Passes the line @which of each run of the store @source in @all to @take, in order and without
 * copying, because lists may be long. Skips runs that lack it or have been removed meanwhile.
 * Errors as database_open().
 */
int query_lines(struct database *d, size_t source, const struct stored_runs *all,
		enum run_line which, run_line_fn take, void *context);

#endif
