/* SPDX-License-Identifier: BSD-2-Clause */
/* What is in stores: which runs, and what each of them was. */
#ifndef STORE_QUERY_H
#define STORE_QUERY_H

#include "run/stall_state.h"
#include "run/summary.h"
#include "store/database.h"

enum run_state {
	RUN_RUNNING,    /* it is being recorded */
	RUN_FINISHED,   /* its summary is there */
	RUN_UNFINISHED, /* its recorder is gone, and left no summary */
};

/* A row of the list. A number that is not known is -1, a string NULL. */
struct stored_run {
	size_t source; /* which of the stores, as the caller counts them */
	int64_t id;
	char *uuid, *name, *job, *command, *user, *host, *note; /* owned */
	char *tags; /* owned; "key=value" each ended by NUL, and one more NUL at the end */
	uint64_t start_epoch_ns;
	uint64_t edited_ns; /* since 1970: when name, tags or note were edited last; 0: never */
	enum run_state state;
	bool is_complete;
	int64_t exit_code, signal, wall_ns, cpu_ns, rss_peak_bytes, processes, lines_lost;
	struct memory_needed needed; /* without a witness: it is not known */
	struct stall_state *stall;   /* owned; of one that goes on and is stalled, else NULL */
};

struct stored_runs {
	struct stored_run *runs; /* owned */
	size_t nr, room;
};

enum state_filter { ANY_STATE, ONLY_RUNNING, ONLY_FINISHED, ONLY_UNFINISHED, ONLY_FAILED };
enum run_order { BY_START, BY_WALL, BY_CPU, BY_MEMORY, BY_NAME };

/* NULL and 0: whatever it is. */
struct run_filter {
	int64_t id;
	const char *uuid;                 /* its beginning */
	const char *name, *host;          /* * and ? stand for anything */
	const char *job, *user, *command; /* command: a part of it */
	const char *exact_name;
	const char *span;        /* of one of its spans; * and ? stand for anything */
	const char *const *tags; /* key, or key=value */
	size_t nr_tags;
	const char *const *words; /* each is in the name, the command or the note, in any case */
	size_t nr_words;
	enum state_filter state;
	uint64_t since_ns;
	bool is_of_uid; /* only those of the user @uid */
	uint32_t uid;
};

/* Appends those that pass. Errors as database_open(). */
int query_runs(struct database *d, size_t source, const struct run_filter *f,
	       struct stored_runs *all);
/*
 * Whether the run @id is stalled, from its events after the number *@last, which is that of its
 * newest one then; at first INT64_MIN. Without an event of a stall @stall is left as it is. Errors
 * as database_open().
 */
int query_stall(struct database *d, int64_t id, int64_t *last, struct stall_state *stall);
/* -1: it is not known. */
int64_t run_needed_bytes(const struct stored_run *r);
bool stored_run_is(const struct stored_run *r, enum state_filter state);
void stored_run_done(struct stored_run *r);
/* Takes over what @r owns. -ENOMEM. */
int stored_runs_append(struct stored_runs *all, const struct stored_run *r);
/*
 * Of runs with the same UUID keeps one: the finished one, else the one that goes on; of equal ones
 * that which was edited last, else that of the store that comes first. -ENOMEM.
 */
int stored_runs_unique(struct stored_runs *all);
/* Keeps those in that state. -ENOMEM. */
int stored_runs_select(struct stored_runs *all, enum state_filter state);
/* Keeps those that have the words of the filter. -ENOMEM. */
int stored_runs_search(struct stored_runs *all, const struct run_filter *f);
/* The largest or newest first; by name the first of the alphabet. */
void stored_runs_sort(struct stored_runs *all, enum run_order order);
void stored_runs_done(struct stored_runs *all);

struct run_text {
	char *meta, *summary; /* lines, owned; @summary is NULL where none came */
	int64_t lines_lost;   /* that did not reach the store */
};

/* -ENOENT: there is no such run. Errors as database_open(); @t is empty then. */
int query_text(struct database *d, int64_t id, struct run_text *t);
void run_text_done(struct run_text *t);

enum run_line { TEXT_META, TEXT_SUMMARY };

/* Takes a line of the run at the place @at of a list, which is in use until it returns. */
typedef void (*line_take)(void *context, size_t at, const char *line);
/*
 * Hands that line of each run of the store @source in @all to @take, in their order; of one that
 * has none, or was removed meanwhile, nothing. Nothing is copied: for lists of any length. Errors
 * as database_open().
 */
int query_lines(struct database *d, size_t source, const struct stored_runs *all,
		enum run_line which, line_take take, void *context);

#endif
