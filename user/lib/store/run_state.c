// SPDX-License-Identifier: BSD-2-Clause
#include "store/query.h"

#include "run/reader.h"

#include <string.h>

/* One table for --state, lists, JSON and pages. */
static const char *const state_words[NR_STATE_FILTERS] = {
	[ANY_STATE] = "any",          [ONLY_RUNNING] = "running",
	[ONLY_FINISHED] = "finished", [ONLY_UNFINISHED] = "unfinished",
	[ONLY_FAILED] = "failed",     [ONLY_ENDED] = "ended",
	[ONLY_SIGNAL] = "signal",     [ONLY_LIMIT] = "limit",
	[ONLY_OOM] = "oom",
};

const char *run_state_word(enum state_filter state)
{
	return state_words[state];
}

/* Returns why a run failed. */
static enum run_cause summary_cause(const struct summary *s)
{
	if (s->limit.text[0] && s->limit.is_end)
		return CAUSE_LIMIT;
	return s->oom.pid ? CAUSE_OOM : CAUSE_NONE;
}

enum state_filter summary_state(const struct summary *s, bool has_ended, bool is_running)
{
	const struct stored_run r = {
		.state = has_ended    ? RUN_FINISHED
			 : is_running ? RUN_RUNNING
				      : RUN_UNFINISHED,
		.exit_code = s->exit_code,
		.signal = s->signal,
		.cause = summary_cause(s),
	};

	return stored_run_state(&r);
}

enum run_cause run_cause_read(const char *summary)
{
	enum run_cause cause = CAUSE_NONE;
	struct line line = { 0 };

	if (!line_read(&line, summary, strlen(summary)) && line.kind == LINE_SUMMARY)
		cause = summary_cause(&line.summary);
	line_done(&line);
	return cause;
}

bool stored_run_is(const struct stored_run *r, enum state_filter f)
{
	switch (f) {
	case ANY_STATE:
		return true;
	case ONLY_FINISHED:
		return r->state == RUN_FINISHED;
	case ONLY_FAILED:
		return r->exit_code > 0 || r->signal > 0;
	default:
		return stored_run_state(r) == f;
	}
}

enum state_filter stored_run_state(const struct stored_run *r)
{
	if (r->state != RUN_FINISHED)
		return r->state == RUN_RUNNING ? ONLY_RUNNING : ONLY_UNFINISHED;
	if (!stored_run_is(r, ONLY_FAILED))
		return ONLY_ENDED;
	if (r->cause != CAUSE_NONE)
		return r->cause == CAUSE_LIMIT ? ONLY_LIMIT : ONLY_OOM;
	return r->signal > 0 ? ONLY_SIGNAL : ONLY_FAILED;
}
