/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the table of processes: titles, widths, values and order. */
#ifndef TOP_TOP_COLUMN_H
#define TOP_TOP_COLUMN_H

#include "top/scene.h"
#include "top/screen.h"

enum column_id {
	COLUMN_PID,
	COLUMN_USER,
	COLUMN_JOB,
	COLUMN_STATE,
	COLUMN_CPU,
	COLUMN_SUM_CPU,
	COLUMN_TIME,
	COLUMN_SUM_TIME,
	COLUMN_RSS,
	COLUMN_SUM_RSS,
	COLUMN_SWAP,
	COLUMN_THREADS,
	COLUMN_GPU,
	COLUMN_GPU_MEMORY,
	COLUMN_READ,
	COLUMN_WRITE,
	COLUMN_SUM_READ,
	COLUMN_SUM_WRITE,
	COLUMN_MAJFLT,
	COLUMN_QUEUE,
	COLUMN_IDLE,
	COLUMN_WAITS,
	COLUMN_COMMAND, /* the last one, always shown */
	NR_COLUMNS
};

struct column {
	const char *title, *help;
	int width;
	bool is_default;
	bool is_default_of_node; /* for the processes of a whole node */
	bool is_left;            /* text */
	bool is_ascending;       /* initial sort direction */
	uint8_t rank; /* columns of the highest rank are left out first on a narrow terminal */
};

/* The values of a row of any kind. */
struct row_values {
	const struct task *task;                           /* may be NULL */
	const struct usage *own, *sum, *grown, *sum_grown; /* NULL if unknown */
	int64_t at_ns, span_ns; /* the moment; the time in which @grown grew */
	char state;             /* as in /proc; 0 if unknown */
	const char *waits;
	const char *user, *job; /* may be NULL */
};

extern const struct column columns[NR_COLUMNS];

/* Returns true if rows can be sorted by the column. */
bool column_has_order(enum column_id id);
/* Returns the style of a load: 1 is a core, or all of them, without a pause. */
enum style load_style(double load);

/* Writes the value of a column, and stores its style in *@style. */
void column_text(enum column_id id, const struct row_values *v, char *out, size_t size,
		 enum style *style);
/* Returns the sort key of a row, which is -1 for text columns. */
double column_number(enum column_id id, const struct row_values *v);
/*
 * Returns the columns of @chosen (bits) that fit into @width, if the command takes @command
 * columns.
 */
uint32_t columns_limit_width(uint32_t chosen, int width, int command);

/* Formats @bytes in up to 5 columns, such as "158M". */
void bytes_short(char *out, size_t size, double bytes);

#endif
