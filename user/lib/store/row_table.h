/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The tables of the store with their columns, and what a row of each is read into. The columns of
 * metrics are not here: schema.h adds them.
 */
#ifndef STORE_ROW_TABLE_H
#define STORE_ROW_TABLE_H

#include "run/process.h"
#include "run/signature.h"
#include "store/query.h"
#include "store/table_column.h"

/* Of `run`: how far a run has come, beside what a list shows of it. */
struct run_row {
	struct stored_run run;
	bool has_ended;
	const char *writer, *needed_witness, *needed_bound;
	uint64_t seen_ns, interval_ns;
};

/* Of `sample`, and of `block`. */
struct sample_row {
	uint64_t elapsed_ns;
};

struct process_row {
	int64_t seq; /* each is larger than the one before */
	const char *comm, *args, *state;
	struct process process;
};

struct process_sample_row {
	int64_t rank; /* 1: the heaviest of its sample */
	const char *comm;
	struct process_sample sample;
};

struct instance_row {
	uint64_t elapsed_ns; /* of its sample */
	const char *dimension, *name;
};

struct span_row {
	int64_t seq; /* each is larger than the one before */
	const char *line;
};

struct signature_row {
	int32_t version;
	const char *programs;
	struct signature signature;
};

struct event_row {
	uint64_t elapsed_ns;
	int64_t seq; /* each is larger than the one before */
	const char *kind, *event, *line;
};

extern const struct stored_table run_table, sample_table, block_table, process_table,
	process_sample_table, event_table, span_table, instance_table, signature_table;

/* A column of one of these; NULL: there is none of that name, or it is of a metric. */
const struct table_column *table_column_find(const char *table, const char *name);

#endif
