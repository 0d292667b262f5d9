/* SPDX-License-Identifier: BSD-2-Clause */
/* The columns of the table of processes: their titles, widths, values and order. */
#ifndef TOP_TOP_COLUMN_H
#define TOP_TOP_COLUMN_H

#include "top/scene.h"
#include "top/screen.h"

enum column_id {
	COLUMN_PID,
	COLUMN_USER,
	COLUMN_STATE,
	COLUMN_CPU,
	COLUMN_SUM_CPU,
	COLUMN_TIME,
	COLUMN_SUM_TIME,
	COLUMN_RSS,
	COLUMN_SUM_RSS,
	COLUMN_SWAP,
	COLUMN_THREADS,
	COLUMN_READ,
	COLUMN_WRITE,
	COLUMN_SUM_READ,
	COLUMN_SUM_WRITE,
	COLUMN_MAJFLT,
	COLUMN_QUEUE,
	COLUMN_IDLE,
	COLUMN_WAITS,
	COLUMN_COMMAND, /* the last one, always there */
	NR_COLUMNS
};

struct column {
	const char *title, *help;
	int width;
	bool is_default;
	bool is_left;      /* a text */
	bool is_ascending; /* what sorting begins with */
	uint8_t rank;      /* in a narrow terminal the highest ones go first */
};

/* The values of one row, of whatever it is. */
struct row_values {
	const struct task *task;                           /* NULL: of none */
	const struct usage *own, *sum, *grown, *sum_grown; /* NULL: not known */
	int64_t at_ns, span_ns; /* the moment; the time in which @grown grew */
	char state;             /* as in /proc; 0: not known */
	const char *waits;
	const char *user;
};

extern const struct column columns[NR_COLUMNS];

/* Writes the value of the column; @style: how it is to be drawn. */
void column_text(enum column_id id, const struct row_values *v, char *out, size_t size,
		 enum style *style);
/* By what the rows are sorted; of texts 0. */
double column_number(enum column_id id, const struct row_values *v);
/* The columns of @chosen (bits) that fit into @width, where the command has @command columns. */
uint32_t columns_within(uint32_t chosen, int width, int command);

/* Short values: "158M", "12.34s", "1:02:03"; no more than 7 columns. */
void bytes_short(char *out, size_t size, double bytes);
void duration_short(char *out, size_t size, uint64_t ns);

#endif
