// SPDX-License-Identifier: BSD-2-Clause
#include "text/jobs_text.h"

#include "base/clock.h"
#include "base/text.h"
#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ID_MOST 48 /* largest number of characters of the first column */
#define USER_MOST 12

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

static void cell_cores(const struct node_job_row *r, char *out)
{
	if (metric_has(&r->have, M_cores))
		snprintf(out, FORMAT_BYTES, "%" PRIu64 ".%02u", r->value[M_cores] / 1000,
			 (unsigned)(r->value[M_cores] % 1000 / 10));
	else
		snprintf(out, FORMAT_BYTES, "-");
}

static void cell_count(const struct node_job_row *r, enum metric_id id, char *out)
{
	if (metric_has(&r->have, id))
		snprintf(out, FORMAT_BYTES, "%" PRIu64, r->value[id]);
	else
		snprintf(out, FORMAT_BYTES, "-");
}

static void cell_seconds(const struct node_job_row *r, enum metric_id id, char *out)
{
	if (metric_has(&r->have, id))
		format_seconds(out, r->value[id]);
	else
		snprintf(out, FORMAT_BYTES, "-");
}

static void cell_bytes(const struct node_job_row *r, enum metric_id id, char *out)
{
	if (metric_has(&r->have, id))
		format_bytes(out, r->value[id]);
	else
		snprintf(out, FORMAT_BYTES, "-");
}

/* Formats the id. For the id "run", which names no run, appends the name. */
static void cell_id(const struct node_job_row *r, char *out, size_t size)
{
	if (strcmp(r->id, "run") != 0 || !*r->name)
		snprintf(out, size, "%s", r->id);
	else
		snprintf(out, size, "run %s", r->name);
	text_disarm(out);
}

static void row_print(FILE *f, const struct node_job_row *r, uint64_t now_epoch_ns, int id_width)
{
	char id[512], user[64], cpu[FORMAT_BYTES], cores[FORMAT_BYTES], rss[FORMAT_BYTES],
		age[FORMAT_BYTES], processes[FORMAT_BYTES];

	cell_id(r, id, sizeof(id));
	snprintf(user, sizeof(user), "%s", r->user ? r->user : "-");
	text_disarm(user);
	cell_cores(r, cores);
	cell_seconds(r, M_cpu, cpu);
	cell_bytes(r, M_rss, rss);
	cell_count(r, M_processes, processes);
	format_seconds(age,
		       now_epoch_ns > r->start_epoch_ns ? now_epoch_ns - r->start_epoch_ns : 0);
	fprintf(f, "%-*.*s  %-*.*s %7s %11s %11s %9s %11s\n", id_width, ID_MOST, id, USER_MOST,
		USER_MOST, user, cores, cpu, rss, processes, age);
}

static int id_width(const struct node_job_rows *rows)
{
	size_t most = strlen("JOB");
	char id[512];

	for (size_t i = 0; i < rows->nr; i++) {
		cell_id(&rows->all[i], id, sizeof(id));
		if (strlen(id) > most)
			most = strlen(id);
	}
	return most < ID_MOST ? (int)most : ID_MOST;
}

void node_jobs_table(FILE *f, const struct node_job_rows *rows, uint64_t now_epoch_ns)
{
	int width = id_width(rows);

	fprintf(f, "%-*s  %-*s %7s %11s %11s %9s %11s\n", width, "JOB", USER_MOST, "USER", "CORES",
		"CPU", "RSS", "PROCESSES", "SINCE");
	for (size_t i = 0; i < rows->nr; i++)
		row_print(f, &rows->all[i], now_epoch_ns, width);
	if (rows->notices)
		fputs(rows->notices, f);
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
