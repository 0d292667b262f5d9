/* SPDX-License-Identifier: BSD-2-Clause */
/* The names under which the values of a board are shown, the same for every program. */
#ifndef BOARD_SHOWN_H
#define BOARD_SHOWN_H

#include "board/board.h"
#include "export/openmetrics.h"

/* A prefix of names, and the metrics below it. */
struct scope {
	const char *prefix, *labels, *help_end;
	bool with_gauges, of_machine;
};

enum { SCOPE_JOB, SCOPE_USER, SCOPE_NODE, NR_SCOPES };

extern const struct scope scopes[NR_SCOPES];

/* Returns whether the series of @s have the metric. */
bool scope_has(const struct scope *s, enum metric_id id);
struct family scope_family(const struct scope *s, enum metric_id id);

/* Gauges of jobs that are no metrics of a sample. */
enum {
	STATE_RUNNING,
	STATE_START,
	STATE_LIMIT,
	STATE_CPU_LIMIT,
	STATE_CPU_REQUEST,
	STATE_STALLED,
	NR_JOB_STATES
};

const struct family *job_state_family(size_t state);
/* Returns false if the series has no such gauge, as most have not once their jobs have ended. */
bool job_state_read(const struct series *s, size_t state, uint64_t *value);

/* A figure of ended jobs (ended.h). */
struct family ended_family(int metric);

/* The agent's report about itself. */
extern const struct family agent_up_family, agent_last_line_family, agent_losses_family;
struct family agent_family(size_t metric);

/* The counters of struct board_counts; @prefix names the program. */
enum {
#define BOARD_COUNT(key, help) COUNT_##key,
#include "board/board_counts.def"
	NR_BOARD_COUNTS
};

struct family board_count_family(size_t i, const char *prefix);
uint64_t board_count_read(const struct board *b, size_t i);

#endif
