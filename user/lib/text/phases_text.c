// SPDX-License-Identifier: BSD-2-Clause
#include "text/spans_text.h"

#include "base/memory.h"
#include "text/format.h"
#include "text/markdown.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEAST 16
#define NAME_MOST 40
#define NAME_SHOWN 100 /* columns of a name in Markdown */

enum phase_column_kind {
	OF_METRIC,
	OF_COUNT, /* number of phases of that name */
	OF_WALL,
	OF_CORES, /* CPU time divided by wall time */
};

/* Columns, most useful first: the last ones are left out on a narrow terminal. */
/* clang-format off */
static const struct column {
	const char *title;
	int width;
	enum phase_column_kind kind;
	enum metric_id id; /* metric that must be known, or NR_METRICS */
	char *(*format)(char *out, uint64_t v);
} columns[] = {
	{ "count",     6, OF_COUNT,  NR_METRICS,      format_count },
	{ "wall",     11, OF_WALL,   NR_METRICS,      format_seconds },
	{ "CPU",      11, OF_METRIC, M_cpu,           format_seconds },
	{ "cores",     6, OF_CORES,  M_cpu,           NULL },
	{ "peak RSS", 10, OF_METRIC, M_rss,           format_bytes },
	{ "read",     10, OF_METRIC, M_read,          format_bytes },
	{ "written",  10, OF_METRIC, M_write,         format_bytes },
	{ "started",   9, OF_METRIC, M_forks,         format_count },
	{ "user",     11, OF_METRIC, M_user,          format_seconds },
	{ "system",   11, OF_METRIC, M_system,        format_seconds },
	{ "waited",   11, OF_METRIC, M_runqueue_wait, format_seconds },
};
/* clang-format on */
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

/*
 * Where the values of a row are shown: in it, in the row below, or partly below. A sample that
 * covers several phases cannot be split between them.
 */
enum row_values { VALUES_OWN, VALUES_BELOW, VALUES_PARTLY_BELOW };

struct phase_row {
	const char *name;
	char made[NAME_MOST]; /* generated name, if @name is NULL */
	size_t count;         /* 0 for a row of several names */
	uint64_t wall_ns;
	const uint64_t *value;
	const struct metric_set *have;
	enum row_values values;
};

struct phase_table {
	struct phase_row *rows; /* owned */
	size_t nr;
	bool has_counts, is_markdown;
	size_t names; /* columns */
	unsigned shown;
};

static const char *row_name(const struct phase_row *r)
{
	return r->name ? r->name : r->made;
}

static const char *phase_label(const char *text)
{
	return text ? text : "(start)";
}

/* Adds a row per phase of a group and, if they share values, a row with these below. */
static void rows_add_group(struct phase_table *t, const struct phase *first)
{
	const struct phase *last = first + first->nr_shared - 1;
	bool is_shared = first->nr_shared > 1;
	struct phase_row *r;

	for (const struct phase *ph = first; ph <= last; ph++)
		t->rows[t->nr++] = (struct phase_row){
			.name = phase_label(ph->text),
			.count = 1,
			.wall_ns = ph->end_ns - ph->start_ns,
			.value = ph->value,
			.have = &ph->have,
			.values = is_shared ? VALUES_BELOW : VALUES_OWN,
		};
	if (!is_shared)
		return;
	r = &t->rows[t->nr++];
	*r = (struct phase_row){ .wall_ns = last->end_ns - first->start_ns,
				 .value = first->value,
				 .have = &first->have };
	snprintf(r->made, sizeof(r->made), "= these %zu", first->nr_shared);
}

static void row_add_sum(struct phase_table *t, const struct phase_sum *sum)
{
	t->rows[t->nr++] = (struct phase_row){
		.name = phase_label(sum->text),
		.count = sum->nr,
		.wall_ns = sum->ns,
		.value = sum->value,
		.have = &sum->have,
		.values = !sum->nr_shared             ? VALUES_OWN
			  : sum->nr_shared == sum->nr ? VALUES_BELOW
						      : VALUES_PARTLY_BELOW,
	};
}

/* Adds a row per name, and one for the values that cannot be attributed to one name. */
static void rows_add_sums(struct phase_table *t, const struct phase_sums *s)
{
	struct phase_row *r;

	t->has_counts = true;
	for (size_t i = 0; i < s->nr; i++)
		row_add_sum(t, &s->all[i]);
	if (!s->shared.nr)
		return;
	r = &t->rows[t->nr++];
	*r = (struct phase_row){ .wall_ns = s->shared.ns,
				 .value = s->shared.value,
				 .have = &s->shared.have };
	snprintf(r->made, sizeof(r->made), "| together (%zu)", s->shared.nr);
}

/* Omits columns that would hold only "-", and the count if each name occurs once. */
static bool rows_have_column(const struct phase_table *t, const struct column *c)
{
	if (c->kind == OF_COUNT)
		return t->has_counts;
	if (c->id == NR_METRICS)
		return true;
	for (size_t i = 0; i < t->nr; i++)
		if (metric_has(t->rows[i].have, c->id))
			return true;
	return false;
}

static void cores_format(char *out, const struct phase_row *r)
{
	if (r->wall_ns)
		snprintf(out, FORMAT_BYTES, "%.2f", (double)r->value[M_cpu] / (double)r->wall_ns);
}

/*
 * Formats a cell. "|" says that the value is in the row below, a trailing "+" that a part of it is.
 */
static void cell_format(char out[FORMAT_BYTES], const struct phase_row *r, const struct column *c)
{
	snprintf(out, FORMAT_BYTES, "-");
	if (c->kind == OF_WALL)
		c->format(out, r->wall_ns);
	else if (c->kind == OF_COUNT && r->count)
		c->format(out, r->count);
	else if (c->kind == OF_COUNT)
		out[0] = '\0';
	else if (r->values == VALUES_BELOW ||
		 (r->values == VALUES_PARTLY_BELOW && c->kind == OF_CORES))
		snprintf(out, FORMAT_BYTES, "|");
	else if (!metric_has(r->have, c->id))
		return;
	else if (c->kind == OF_CORES)
		cores_format(out, r);
	else
		c->format(out, r->value[c->id]);
	if (r->values == VALUES_PARTLY_BELOW && c->kind == OF_METRIC)
		strncat(out, "+", FORMAT_BYTES - strlen(out) - 1);
}

static void phase_columns_choose(struct phase_table *t, size_t width)
{
	size_t used = 0, longest = strlen("phase"), room, n;

	for (size_t i = 0; i < NR_COLUMNS; i++) {
		size_t more = (size_t)columns[i].width + 1;

		if (!rows_have_column(t, &columns[i]))
			continue;
		if (used + more + NAME_LEAST + 2 > width)
			break;
		used += more;
		t->shown |= 1U << i;
	}
	for (size_t i = 0; i < t->nr; i++) {
		n = format_columns(row_name(&t->rows[i]));
		longest = n > longest ? n : longest;
	}
	room = width > used + 2 ? width - used - 2 : NAME_LEAST;
	room = room > NAME_MOST && width < TEXT_UNCUT ? NAME_MOST : room;
	t->names = longest < room ? longest : room;
}

static void phase_row_markdown(FILE *f, const struct phase_table *t, const struct phase_row *r)
{
	char text[FORMAT_BYTES];

	fputs("| ", f);
	if (r->name)
		markdown_code(f, r->name, NAME_SHOWN, true);
	else
		markdown_text(f, r->made);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!(t->shown >> i & 1))
			continue;
		fputs(" | ", f);
		cell_format(text, r, &columns[i]);
		markdown_text(f, text);
	}
	fputs(" |\n", f);
}

static void row_put(FILE *f, const struct phase_table *t, const struct phase_row *r)
{
	char text[FORMAT_BYTES];

	if (t->is_markdown) {
		phase_row_markdown(f, t, r);
		return;
	}
	fputs("  ", f);
	format_padded(f, row_name(r), t->names);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		if (!(t->shown >> i & 1))
			continue;
		cell_format(text, r, &columns[i]);
		fprintf(f, " %*s", columns[i].width, text);
	}
	fputc('\n', f);
}

static void head_put(FILE *f, const struct phase_table *t)
{
	const char *titles[NR_COLUMNS + 1] = { "phase" };
	size_t nr = 1;

	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (t->shown >> i & 1)
			titles[nr++] = columns[i].title;
	if (t->is_markdown) {
		markdown_head(f, titles, nr);
		return;
	}
	fprintf(f, "  %-*s", (int)t->names, "phase");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (t->shown >> i & 1)
			fprintf(f, " %*s", columns[i].width, columns[i].title);
	fputc('\n', f);
}

static void note_put(FILE *f, const struct phase_table *t, const char *text, size_t width)
{
	if (!t->is_markdown) {
		format_folded(f, text, width, 4);
		return;
	}
	fputc('\n', f);
	markdown_text(f, text + strspn(text, " "));
	fputc('\n', f);
}

/* Explains the signs that occur in the table. */
static void notes_put(FILE *f, const struct phase_table *t, size_t width)
{
	bool is_below = false, is_partly = false;

	for (size_t i = 0; i < NR_COLUMNS; i++)
		if ((t->shown >> i & 1) && columns[i].id == M_forks)
			note_put(f, t, "  started: the number of processes that began in the phase",
				 width);
	for (size_t i = 0; i < t->nr; i++) {
		is_below |= t->rows[i].values == VALUES_BELOW;
		is_partly |= t->rows[i].values == VALUES_PARTLY_BELOW;
	}
	if (is_below || is_partly)
		note_put(f, t, "  | no sample tells these apart: what they used together is below",
			 width);
	if (is_partly)
		note_put(f, t, "  + and a part of what is below", width);
}

static void table_put(FILE *f, struct phase_table *t, const struct phases *p, size_t width)
{
	char text[FORMAT_BYTES + 64];

	t->is_markdown = !width;
	phase_columns_choose(t, width ? width : SIZE_MAX);
	head_put(f, t);
	for (size_t i = 0; i < t->nr; i++)
		row_put(f, t, &t->rows[i]);
	notes_put(f, t, width);
	snprintf(text, sizeof(text),
		 "  %" PRIu64 " marks more begin no phase here: there are too many", p->left_out);
	if (p->left_out)
		note_put(f, t, text, width);
}

/*
 * Builds the rows. If no name occurs twice, phases are listed one by one, so that shared values
 * stand next to them.
 */
static int table_make(struct phase_table *t, const struct phases *p, struct phase_sums *sums,
		      bool is_each)
{
	int err = is_each ? 0 : phase_sums_make(sums, p);

	if (err)
		return err;
	/* a group has at least two phases and adds one row for shared values */
	t->rows = memory_calloc(p->nr + p->nr / 2 + 2, sizeof(*t->rows));
	if (!t->rows)
		return -1;
	if (!is_each && sums->has_equal)
		rows_add_sums(t, sums);
	else
		for (size_t k = 0; k < p->nr; k += p->all[k].nr_shared)
			rows_add_group(t, &p->all[k]);
	return 0;
}

char *phases_text(const struct phases *p, bool is_each, size_t width)
{
	struct phase_table t = { 0 };
	struct phase_sums sums = { 0 };
	bool is_whole = !table_make(&t, p, &sums, is_each);
	char *text = NULL;
	size_t length;
	FILE *f = is_whole ? memory_open_memstream(&text, &length) : NULL;

	if (f) {
		table_put(f, &t, p, width);
		if (fclose(f)) {
			free(text);
			text = NULL;
		}
	}
	free(t.rows);
	phase_sums_done(&sums);
	return text;
}
