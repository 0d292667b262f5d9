/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The columns of the store's tables, except those of metrics (see schema.h), and the structs that
 * rows are read into.
 */
#ifndef STORE_ROW_TABLE_H
#define STORE_ROW_TABLE_H

#include "run/process.h"
#include "run/signature.h"
#include "store/query.h"
#include "store/table_column.h"

/* A row of `run`: what lists show, and what determines the run's state. */
struct run_row {
	struct stored_run run;
	bool has_ended;
	const char *writer, *needed_witness, *needed_bound;
	uint64_t seen_ns, interval_ns;
};

/* A row of `sample` or `block`. */
struct sample_row {
	uint64_t elapsed_ns;
};

struct process_row {
	int64_t seq; /* ascending within a run */
	const char *comm, *args, *state;
	struct process process;
};

struct process_sample_row {
	int64_t rank; /* 1 for the heaviest of its sample */
	const char *comm;
	struct process_sample sample;
};

struct instance_row {
	uint64_t elapsed_ns; /* of its sample */
	const char *dimension, *name;
};

struct span_row {
	int64_t seq; /* ascending within a run */
	const char *line;
};

struct signature_row {
	int32_t version;
	const char *programs;
	struct signature signature;
};

struct event_row {
	uint64_t elapsed_ns;
	int64_t seq; /* ascending within a run */
	const char *kind, *event, *line;
};

extern const struct stored_table run_table, sample_table, block_table, process_table,
	process_sample_table, event_table, span_table, instance_table, signature_table;

/* Returns a column of a table above; NULL if the table has no such column, or it is a metric's. */
const struct table_column *table_column_find(const char *table, const char *name);

#endif
