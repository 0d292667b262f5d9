// SPDX-License-Identifier: BSD-2-Clause
#include "store/row_table.h"

#include <string.h>

#define NR(columns) (sizeof(columns) / sizeof(*(columns)))

/* clang-format off */
#define RUN(member) .offset = offsetof(struct run_row, member)
static const struct table_column run_columns[] = {
	{ "id",             COLUMN_NUMBER, NULL, RUN(run.id) },
	{ "uuid",           COLUMN_COPY, "run", RUN(run.uuid), .is_needed = true },
	{ "name",           COLUMN_COPY, "name", RUN(run.name) },
	{ "job",            COLUMN_COPY, "job", RUN(run.job) },
	{ "command",        COLUMN_COPY, NULL, RUN(run.command) },
	{ "cwd",            COLUMN_TEXT, "cwd", .is_unread = true },
	{ "user",           COLUMN_COPY, "user", RUN(run.user) },
	{ "uid",            COLUMN_UINT32, "uid", .is_unread = true },
	{ "host",           COLUMN_COPY, "host", RUN(run.host) },
	{ "start_time_ns",  COLUMN_AMOUNT, NULL, RUN(run.start_epoch_ns), .is_needed = true },
	{ "interval_ns",    COLUMN_AMOUNT, NULL, RUN(interval_ns) },
	{ "writer",         COLUMN_TEXT, NULL, RUN(writer) },
	{ "seen_time_ns",   COLUMN_AMOUNT, NULL, RUN(seen_ns), .written = WRITTEN_OTHERWISE },
	{ "ended",          COLUMN_TRUTH, NULL, RUN(has_ended), .written = WRITTEN_OTHERWISE },
	{ "complete",       COLUMN_TRUTH, "complete", RUN(run.is_complete), .written = WRITTEN_AT_END },
	{ "exit_code",      COLUMN_INT_OR_NONE, "exit_code", RUN(run.exit_code), .written = WRITTEN_AT_END },
	{ "signal",         COLUMN_INT_OR_NONE, "signal", RUN(run.signal), .written = WRITTEN_AT_END },
	{ "wall_ns",        COLUMN_AMOUNT_OR_NONE, NULL, RUN(run.wall_ns), .written = WRITTEN_AT_END },
	{ "cpu_ns",         COLUMN_AMOUNT_OR_NONE, NULL, RUN(run.cpu_ns), .written = WRITTEN_AT_END },
	{ "rss_peak_bytes", COLUMN_AMOUNT_OR_NONE, NULL, RUN(run.rss_peak_bytes), .written = WRITTEN_AT_END },
	{ "processes",      COLUMN_AMOUNT_OR_NONE, "processes_total", RUN(run.processes), .written = WRITTEN_AT_END },
	{ "lines_lost",     COLUMN_AMOUNT_OR_NONE, NULL, RUN(run.lines_lost), .written = WRITTEN_OTHERWISE },
	{ "note",           COLUMN_COPY, "note", RUN(run.note) },
	{ "edited_time_ns", COLUMN_TIME, "edited_time", RUN(run.edited_ns) },
	{ "memory_needed_bytes", COLUMN_AMOUNT, NULL, RUN(run.needed.bytes), .written = WRITTEN_AT_END },
	{ "memory_needed_witness", COLUMN_TEXT, NULL, RUN(needed_witness), .written = WRITTEN_AT_END },
	{ "memory_needed_bound", COLUMN_TEXT, NULL, RUN(needed_bound), .written = WRITTEN_AT_END },
};

static const struct table_column sample_columns[] = {
	{ "elapsed_ns", COLUMN_AMOUNT, NULL, .offset = offsetof(struct sample_row, elapsed_ns), .is_key = true },
};

/* Columns from process.def: their types and members. */
#define PROCESS(member) .offset = offsetof(struct process_row, member)
#define PROCESS_INT(column, key, unit, member) { #column, COLUMN_INT, #key, PROCESS(process.member)
#define PROCESS_STATUS PROCESS_INT
#define PROCESS_UINT(column, key, unit, member) { #column, COLUMN_UINT32, #key, PROCESS(process.member)
#define PROCESS_TRUTH(column, key, unit, member) { #column, COLUMN_TRUTH, #key, PROCESS(process.member)
#define PROCESS_TIME(column, key, unit, member) { #column, COLUMN_TIME, #key, PROCESS(process.member)
#define PROCESS_NUMBER(column, key, unit, member) { #column, PROCESS_OF_##unit, #key, PROCESS(process.member)
#define PROCESS_OF_COUNT COLUMN_AMOUNT
#define PROCESS_OF_BYTES COLUMN_AMOUNT
#define PROCESS_OF_NS COLUMN_TIME
#define PROCESS_STRING(column, key, unit, member) { #column, COLUMN_TEXT, #key, PROCESS(process.member)
#define PROCESS_COMM(column, key, unit, member) { #column, COLUMN_TEXT, #key, PROCESS(member)
#define PROCESS_STATE PROCESS_COMM
#define PROCESS_ARGS(column, key, unit, member) { #column, COLUMN_TEXT, NULL, PROCESS(member)
#define STORED_ALWAYS }
#define STORED_IF_SET }
#define STORED_HAS_OR_NULL(member) }
#define STORED_IF_HAS(member) , .has = offsetof(struct process_row, process.member) }
#define STORED_WITH(member) }
#define STORED_UNLESS(member) }
#define STORED_BESIDE(member) }
static const struct table_column process_columns[] = {
	{ "seq",            COLUMN_NUMBER, NULL, PROCESS(seq), .is_key = true },
#define PROCESS_MEMBER(key, type, unit, member, there, column, text)                               \
	PROCESS_##type(column, key, unit, member) STORED_##there,
#include "run/process.def"
	{ "lossy",          COLUMN_TRUTH, "lossy", PROCESS(process.lossy) },
};

#define HEAVY(member) .offset = offsetof(struct process_sample_row, member)
static const struct table_column process_sample_columns[] = {
	{ "elapsed_ns",    COLUMN_AMOUNT, NULL, HEAVY(sample.elapsed_ns), .is_key = true },
	{ "rank",          COLUMN_NUMBER, NULL, HEAVY(rank), .is_key = true, .is_unread = true },
	{ "pid",           COLUMN_INT, "pid", HEAVY(sample.pid) },
	{ "comm",          COLUMN_TEXT, "comm", HEAVY(comm) },
	{ "start_time_ns", COLUMN_TIME, "start_time", HEAVY(sample.start_epoch_ns) },
	{ "lossy",         COLUMN_TRUTH, "lossy", HEAVY(sample.lossy) },
};

/* One row for each instance and sample. */
#define INSTANCE(member) .offset = offsetof(struct instance_row, member)
static const struct table_column instance_columns[] = {
	{ "elapsed_ns", COLUMN_AMOUNT, NULL, INSTANCE(elapsed_ns), .is_key = true },
	{ "dimension",  COLUMN_TEXT, NULL, INSTANCE(dimension), .is_key = true },
	{ "name",       COLUMN_TEXT, NULL, INSTANCE(name), .is_key = true },
};

#define SIGNATURE(member) .offset = offsetof(struct signature_row, member)
static const struct table_column signature_columns[] = {
	{ "version",  COLUMN_INT, NULL, SIGNATURE(version), .is_needed = true },
	{ "programs", COLUMN_TEXT, NULL, SIGNATURE(programs) },
#define SIGNATURE_DIMENSION(key, least, weight, text)                                              \
	{ #key "_milli", COLUMN_INT, NULL,                                                         \
	  .offset = offsetof(struct signature_row, signature.milli[SIGNATURE_##key]),              \
	  .has = offsetof(struct signature_row, signature.has[SIGNATURE_##key]) },
#include "run/signature.def"
};

#define EVENT(member) .offset = offsetof(struct event_row, member)
static const struct table_column event_columns[] = {
	{ "elapsed_ns", COLUMN_AMOUNT, NULL, EVENT(elapsed_ns), .is_needed = true },
	{ "seq",        COLUMN_NUMBER, NULL, EVENT(seq), .is_key = true },
	{ "kind",       COLUMN_TEXT, "kind", EVENT(kind), .is_unread = true },
	{ "event",      COLUMN_TEXT, "event", EVENT(event), .is_unread = true },
	{ "line",       COLUMN_TEXT, NULL, EVENT(line), .is_needed = true },
};

/* Spans are read from `line`; the other columns serve SQL queries and run_filter.span. */
#define SPAN(member) .offset = offsetof(struct span_row, member)
static const struct table_column span_columns[] = {
	{ "seq",                  COLUMN_NUMBER, NULL, SPAN(seq), .is_key = true },
	{ "id",                   COLUMN_AMOUNT, "id", .is_unread = true },
	{ "parent",               COLUMN_AMOUNT, "parent", .is_unread = true },
	{ "name",                 COLUMN_TEXT, "name", .is_unread = true },
	{ "tags",                 COLUMN_TEXT, NULL, .is_unread = true },
	{ "pid",                  COLUMN_INT, "pid", .is_unread = true },
	{ "in_place",             COLUMN_TRUTH, "in_place", .is_unread = true },
	{ "start_time_ns",        COLUMN_TIME, "start_time", .is_unread = true },
	{ "end_time_ns",          COLUMN_TIME, "end_time", .is_unread = true },
	{ "complete",             COLUMN_TRUTH, "complete", .is_unread = true },
	{ "exit_code",            COLUMN_INT, "exit_code", .is_unread = true },
	{ "signal",               COLUMN_INT, "signal", .is_unread = true },
	{ "wall_ns",              COLUMN_AMOUNT, NULL, .is_unread = true },
	{ "processes",            COLUMN_AMOUNT, "processes_total", .is_unread = true },
	{ "oom_kills",            COLUMN_AMOUNT, "oom_kills", .is_unread = true },
	{ "rss_peak_bytes",       COLUMN_AMOUNT, "rss_peak_bytes", .is_unread = true },
	{ "rss_peak_upper_bytes", COLUMN_AMOUNT, "rss_peak_upper_bytes", .is_unread = true },
	{ "rss_peak_exact_bytes", COLUMN_AMOUNT, "rss_peak_exact_bytes", .is_unread = true },
	{ "line",                 COLUMN_TEXT, NULL, SPAN(line), .is_needed = true },
};
/* clang-format on */

const struct stored_table run_table = { "run", run_columns, NR(run_columns) };
const struct stored_table sample_table = { "sample", sample_columns, NR(sample_columns) };
const struct stored_table block_table = { "block", sample_columns, NR(sample_columns) };
const struct stored_table process_table = { "process", process_columns, NR(process_columns) };
const struct stored_table process_sample_table = { "process_sample", process_sample_columns,
						   NR(process_sample_columns) };
const struct stored_table instance_table = { "instance", instance_columns, NR(instance_columns) };
const struct stored_table signature_table = { "signature", signature_columns,
					      NR(signature_columns) };
const struct stored_table event_table = { "event", event_columns, NR(event_columns) };
const struct stored_table span_table = { "span", span_columns, NR(span_columns) };

const struct table_column *table_column_find(const char *table, const char *name)
{
	static const struct stored_table *const all[] = {
		&run_table,     &sample_table,   &block_table,
		&process_table, &event_table,    &process_sample_table,
		&span_table,    &instance_table, &signature_table,
	};

	for (size_t t = 0; t < NR(all); t++)
		for (size_t i = 0; !strcmp(all[t]->name, table) && i < all[t]->nr; i++)
			if (!strcmp(all[t]->columns[i].name, name))
				return &all[t]->columns[i];
	return NULL;
}
