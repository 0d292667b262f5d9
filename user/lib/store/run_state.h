/* SPDX-License-Identifier: BSD-2-Clause */
/* The states of runs: how a run ended, and the words for it in --state, lists, JSON and pages. */
#ifndef STORE_RUN_STATE_H
#define STORE_RUN_STATE_H

#include "run/summary.h"

#include <stdbool.h>

struct stored_run;

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

bool stored_run_is(const struct stored_run *r, enum state_filter state);
/* Returns the state that lists show: neither ANY_STATE nor ONLY_FINISHED. */
enum state_filter stored_run_state(const struct stored_run *r);
/* Returns the word of a state, as in --state, lists and JSON. */
const char *run_state_word(enum state_filter state);
/* The same of a run with this summary. */
enum state_filter summary_state(const struct summary *s, bool has_ended, bool is_running);
/* Returns why a run failed from its summary line. One that cannot be read says nothing. */
enum run_cause run_cause_read(const char *summary);

#endif
