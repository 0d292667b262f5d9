// SPDX-License-Identifier: BSD-2-Clause
#include "text/jobs_text.h"

#include "run/job_id.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_ID 16 /* columns */

static const enum metric_id order_keys[] = {
	[JOBS_BY_CPU] = M_cpu, [JOBS_BY_CORES] = M_cores, [JOBS_BY_MEMORY] = M_rss
};

static bool row_is_node(const struct node_job_row *r)
{
	return !strcmp(r->id, "node");
}

static int compare_numbers(uint64_t a, uint64_t b)
{
	return a < b ? 1 : -(a > b);
}

static int row_compare(const void *a, const void *b, void *context)
{
	const struct node_job_row *p = a, *q = b;
	const enum job_order order = *(enum job_order *)context;
	int by = 0;

	if (row_is_node(p) != row_is_node(q))
		return row_is_node(p) ? -1 : 1;
	if (order == JOBS_BY_START)
		by = compare_numbers(p->start_epoch_ns, q->start_epoch_ns);
	else if (order != JOBS_BY_NAME)
		by = compare_numbers(p->value[order_keys[order]], q->value[order_keys[order]]);
	return by ? by : strcmp(p->id, q->id);
}

void node_jobs_sort(struct node_job_rows *rows, enum job_order order)
{
	if (rows->nr)
		qsort_r(rows->all, rows->nr, sizeof(*rows->all), row_compare, &order);
}

enum {
	JOB_ID,
	JOB_STATE,
	JOB_USER,
	JOB_NAME,
	JOB_CORES,
	JOB_REQUEST,
	JOB_LIMIT,
	JOB_CPU,
	JOB_RSS,
	JOB_MEMORY_LIMIT,
	JOB_GPUS,
	JOB_GPU_MEMORY,
	JOB_PROCESSES,
	JOB_AGE,
	NR_CELLS
};
#define JOB_NUMBERS JOB_CORES /* this column and all after it are aligned to the right */

static const char *const titles[NR_CELLS] = {
	"JOB", "STATE", "USER",    "NAME", "CORES",   "CPU-REQ",   "CPU-MAX",
	"CPU", "RSS",   "MEM-MAX", "GPUS", "GPU-MEM", "PROCESSES", "SINCE",
};

struct job_cells {
	char id[JOB_ID_BYTES], gpus[JOB_GPUS_BYTES], number[NR_CELLS][FORMAT_BYTES];
	const char *text[NR_CELLS];
};

/* Formats the value with @format; "-" if it was not read. */
static void cell_value(const struct node_job_row *r, enum metric_id id, char *out,
		       char *(*format)(char *out, uint64_t value))
{
	if (metric_has(&r->have, id))
		format(out, r->value[id]);
	else
		snprintf(out, FORMAT_BYTES, "-");
}

/* The same of what the job may use; "-" if that is not known. */
static void cell_bound(uint64_t value, char *out, char *(*format)(char *out, uint64_t value))
{
	if (value)
		format(out, value);
	else
		snprintf(out, FORMAT_BYTES, "-");
}

static char *jobs_format_cores(char *out, uint64_t milli)
{
	snprintf(out, FORMAT_BYTES, "%" PRIu64 ".%02u", milli / 1000,
		 (unsigned)(milli % 1000 / 10));
	return out;
}

static uint64_t job_row_value(const struct node_job_row *r, enum metric_id id)
{
	return metric_has(&r->have, id) ? r->value[id] : 0;
}

char *job_gpus_format(char out[JOB_GPUS_BYTES], const struct node_job_row *r)
{
	const uint64_t held = job_row_value(r, M_gpus_held), idle = job_row_value(r, M_gpus_idle);
	char used[FORMAT_BYTES] = "?";

	if (metric_has(&r->have, M_gpus_used))
		jobs_format_cores(used, r->value[M_gpus_used]);
	if (!held)
		snprintf(out, JOB_GPUS_BYTES, "-");
	else if (idle)
		snprintf(out, JOB_GPUS_BYTES, "%s of %" PRIu64 ", %" PRIu64 " idle", used, held,
			 idle);
	else
		snprintf(out, JOB_GPUS_BYTES, "%s of %" PRIu64, used, held);
	return out;
}

/* The name of a run, which has no id, and that which people gave to a container or batch job. */
static const char *job_row_name(const struct node_job_row *r)
{
	const char *name = !strcmp(r->id, "run") ? r->name : r->title;

	return name && *name ? name : "-";
}

static void row_make_cells(const struct node_job_row *r, uint64_t now_epoch_ns, struct job_cells *c)
{
	const uint64_t start = r->start_epoch_ns;

	*c = (struct job_cells){
		.text = { c->id, r->stall.is_stalled ? "stalled" : "running",
			  r->user ? r->user : "-", job_row_name(r) },
	};
	for (int i = JOB_NUMBERS; i < NR_CELLS; i++)
		c->text[i] = c->number[i];
	job_id_format(c->id, sizeof(c->id), r->id);
	cell_value(r, M_cores, c->number[JOB_CORES], jobs_format_cores);
	cell_bound(r->cpu_request_milli, c->number[JOB_REQUEST], jobs_format_cores);
	cell_bound(r->cpu_max_milli, c->number[JOB_LIMIT], jobs_format_cores);
	cell_value(r, M_cpu, c->number[JOB_CPU], format_seconds);
	cell_value(r, M_rss, c->number[JOB_RSS], format_bytes);
	cell_bound(r->memory_max_bytes, c->number[JOB_MEMORY_LIMIT], format_bytes);
	c->text[JOB_GPUS] = job_gpus_format(c->gpus, r);
	cell_bound(job_row_value(r, M_gpu_memory), c->number[JOB_GPU_MEMORY], format_bytes);
	cell_value(r, M_processes, c->number[JOB_PROCESSES], format_count);
	format_seconds(c->number[JOB_AGE], now_epoch_ns > start ? now_epoch_ns - start : 0);
}

/* Returns whether a column is left out if it has no value. */
static bool column_is_optional(int column)
{
	return column == JOB_NAME || column == JOB_REQUEST || column == JOB_LIMIT ||
	       column == JOB_MEMORY_LIMIT || column == JOB_GPUS || column == JOB_GPU_MEMORY;
}

/* Measures the columns; the width of those that are left out is 0. */
static void jobs_measure(const struct node_job_rows *rows, uint64_t now_epoch_ns, size_t limit,
			 size_t width[NR_CELLS])
{
	struct job_cells c;
	bool is_used[NR_CELLS] = { false };
	size_t all = 0;

	for (int k = 0; k < NR_CELLS; k++)
		width[k] = strlen(titles[k]);
	for (size_t i = 0; i < rows->nr; i++) {
		row_make_cells(&rows->all[i], now_epoch_ns, &c);
		for (int k = 0; k < NR_CELLS; k++) {
			is_used[k] |= strcmp(c.text[k], "-") != 0;
			if (format_columns(c.text[k]) > width[k])
				width[k] = format_columns(c.text[k]);
		}
	}
	for (int k = 0; k < NR_CELLS; k++) {
		if (column_is_optional(k) && !is_used[k])
			width[k] = 0;
		all += width[k] ? width[k] + 2 : 0;
	}
	all -= 2;
	if (all > limit)
		width[JOB_ID] = width[JOB_ID] > all - limit + LEAST_ID
					? width[JOB_ID] - (all - limit)
					: LEAST_ID;
}

static void cells_print(FILE *f, const char *const text[NR_CELLS], const size_t width[NR_CELLS])
{
	for (int k = 0; k < NR_CELLS; k++) {
		if (!width[k])
			continue;
		fputs(k ? "  " : "", f);
		if (k >= JOB_NUMBERS)
			format_padded_left(f, text[k], width[k]);
		else
			fprintf(f, "%*s", (int)(width[k] - format_middle(f, text[k], width[k])),
				"");
	}
	fputc('\n', f);
}

static void notices_print(FILE *f, const struct node_job_rows *rows)
{
	if (rows->notices)
		fputs(rows->notices, f);
}

void node_jobs_table(FILE *f, const struct node_job_rows *rows, uint64_t now_epoch_ns, size_t limit)
{
	size_t width[NR_CELLS];
	struct job_cells c;

	jobs_measure(rows, now_epoch_ns, limit, width);
	cells_print(f, titles, width);
	for (size_t i = 0; i < rows->nr; i++) {
		row_make_cells(&rows->all[i], now_epoch_ns, &c);
		cells_print(f, c.text, width);
	}
	notices_print(f, rows);
}

void node_jobs_none(FILE *f, const struct node_job_rows *rows, const char *user)
{
	fprintf(f, "no jobs of %s now\n", user);
	notices_print(f, rows);
}

bool node_jobs_are_of(const struct node_job_rows *rows, const char *user)
{
	for (size_t i = 0; i < rows->nr; i++)
		if (!rows->all[i].user || strcmp(rows->all[i].user, user) != 0)
			return false;
	return true;
}

void own_jobs_note(FILE *f, const char *user)
{
	fprintf(f, "note: only jobs of %s are shown; root, also by sudo, sees those of all users\n",
		user);
}
