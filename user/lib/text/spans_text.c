// SPDX-License-Identifier: BSD-2-Clause
#include "text/spans_text.h"

#include "base/memory.h"
#include "text/format.h"
#include "text/markdown.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static const char rest_label[] = "(rest of the run)", nameless[] = "(no name)";

#define NAME_LEAST (sizeof(rest_label) - 1) /* columns: labels of this table are never cut */
#define INDENTED_LEAST (sizeof(nameless) - 1)
#define NAME_MOST 40
#define INDENT 2
#define INDENT_MOST ((size_t)INDENT * (MAX_SPAN_DEPTH + 2)) /* of a note */
#define NOTE_BYTES 200
#define INDENT_MARKDOWN "&emsp;"

/* Columns, most useful first: the last ones are left out on a narrow terminal. */
enum column {
	COL_COUNT,
	COL_CPU,
	COL_WALL,
	COL_PEAK,
	COL_UPPER,
	COL_FAILED,
	COL_LONGEST,
	COL_PROCESSES,
	COL_READ,
	COL_WRITTEN,
	COL_USER,
	COL_SYSTEM,
	COL_WAITED,
	NR_COLUMNS
};

/* clang-format off */
static const struct {
	const char *title;
	int width;
	enum span_value value; /* NR_SPAN_VALUES for a computed column */
} columns[NR_COLUMNS] = {
	[COL_COUNT]     = { "count",        6, NR_SPAN_VALUES },
	[COL_CPU]       = { "CPU",         10, SPAN_CPU },
	[COL_WALL]      = { "wall",        10, SPAN_WALL },
	[COL_PEAK]      = { "peak RSS",    10, SPAN_PEAK },
	[COL_UPPER]     = { "up to",       10, SPAN_PEAK_UPPER },
	[COL_FAILED]    = { "failed",       6, NR_SPAN_VALUES },
	[COL_LONGEST]   = { "longest",     10, NR_SPAN_VALUES },
	[COL_PROCESSES] = { "processes",    9, SPAN_PROCESSES },
	[COL_READ]      = { "read",        10, SPAN_READ },
	[COL_WRITTEN]   = { "written",     10, SPAN_WRITTEN },
	[COL_USER]      = { "user",        10, SPAN_USER },
	[COL_SYSTEM]    = { "system",      10, SPAN_SYSTEM },
	[COL_WAITED]    = { "waited",      10, SPAN_WAITED },
};
/* clang-format on */

enum row { ROW_SPANS, ROW_LEAST, ROW_MOST, ROW_REST, ROW_RUN };

struct table {
	FILE *f;
	const struct span_paths *paths;
	const struct span_sums *sums;
	const struct summary *run;
	const struct spans_view *view;
	size_t width;   /* of a line; unlimited: SIZE_MAX */
	size_t names;   /* columns of names, indentation included */
	unsigned shown; /* bit set of columns */
};

/* Stores the value of a row. Returns false if it has none. */
static bool row_get_value(const struct table *t, enum row row, const struct span_sum *sum,
			  enum span_value v, uint64_t *value)
{
	const struct span_amount *a = sum ? &sum->amount[v] : NULL;

	if (row == ROW_RUN)
		return span_value_get(t->run, v, value);
	if (!a || !a->nr || (row != ROW_SPANS && a->nr < 2))
		return false;
	if (row == ROW_SPANS)
		*value = span_value_kind(v)->of_equal == SPAN_SUMMED ? a->sum : a->most;
	else
		*value = row == ROW_LEAST ? a->least : a->most;
	return true;
}

static void rest_format(char *out, const struct table *t, enum span_value v)
{
	uint64_t rest;

	if (!span_value_kind(v)->is_of_rest)
		out[0] = '\0';
	else if (span_sums_rest(t->sums, t->run, v, &rest))
		format_value(out, span_value_kind(v)->unit, rest);
}

static void failed_format(char *out, const struct table *t, const struct span_sum *sum)
{
	if (!sum->with_status)
		return;
	snprintf(out, FORMAT_BYTES, "%zu", t->view->is_each ? (size_t)sum->status : sum->failed);
}

/* Formats a cell; "" if it does not apply to the row. */
static void spans_format_cell(char *text, const struct table *t, enum column col, enum row row,
			      const struct span_sum *sum)
{
	enum span_value v = columns[col].value;
	uint64_t value;

	text[0] = '-';
	text[1] = '\0';
	if (col == COL_COUNT && row == ROW_SPANS)
		format_count(text, sum->nr);
	else if (col == COL_FAILED && row == ROW_SPANS)
		failed_format(text, t, sum);
	else if (col == COL_LONGEST && row == ROW_SPANS)
		format_seconds(text, sum->amount[SPAN_WALL].most);
	else if (v == NR_SPAN_VALUES)
		text[0] = '\0';
	else if (row == ROW_REST)
		rest_format(text, t, v);
	else if (row_get_value(t, row, sum, v, &value))
		format_value(text, span_value_kind(v)->unit, value);
}

/* Writes a row in Markdown. With ROW_SPANS and @sum NULL, writes a note. */
static void spans_row_markdown(const struct table *t, enum row row, const char *name,
			       unsigned depth, const struct span_sum *sum)
{
	char text[2 * FORMAT_BYTES];
	bool is_note = row == ROW_SPANS && !sum;

	fputs("| ", t->f);
	for (unsigned i = 0; i < depth; i++)
		fputs(INDENT_MARKDOWN, t->f);
	if (row == ROW_SPANS && sum)
		markdown_code(t->f, name, SPAN_NAME_BYTES, true);
	else
		markdown_text(t->f, name);
	for (int col = 0; col < NR_COLUMNS; col++) {
		if (!(t->shown >> col & 1))
			continue;
		fputs(" | ", t->f);
		if (is_note)
			continue;
		spans_format_cell(text, t, (enum column)col, row, sum);
		markdown_text(t->f, text);
	}
	fputs(" |\n", t->f);
}

static void spans_put_row(const struct table *t, enum row row, const char *name, unsigned depth,
			  const struct span_sum *sum)
{
	size_t indent = (size_t)depth * INDENT;
	char text[2 * FORMAT_BYTES];
	int blanks = 0; /* postponed, so that no line ends with blanks */

	if (t->view->is_markdown) {
		spans_row_markdown(t, row, name, depth, sum);
		return;
	}
	if (indent + INDENTED_LEAST > t->names)
		indent = t->names - INDENTED_LEAST;
	fprintf(t->f, "  %*s", (int)indent, "");
	format_padded(t->f, name, t->names - indent);
	for (int col = 0; col < NR_COLUMNS; col++) {
		if (!(t->shown >> col & 1))
			continue;
		spans_format_cell(text, t, (enum column)col, row, sum);
		blanks += columns[col].width + 1;
		if (!text[0])
			continue;
		fprintf(t->f, "%*s", blanks, text);
		blanks = 0;
	}
	fputc('\n', t->f);
}

/* Writes a note below a row on what may be wrong with its values. Names of losses are untrusted. */
static void spans_put_note(const struct table *t, unsigned depth, const char *text)
{
	char *shown = NULL;
	FILE *f;
	size_t length, indent = 2 + (size_t)(depth + 1) * INDENT;
	size_t most = t->width < INDENT_MOST ? t->width / 2 : INDENT_MOST;

	if (t->view->is_markdown) {
		spans_row_markdown(t, ROW_SPANS, text, depth + 1, NULL);
		return;
	}
	f = memory_open_memstream(&shown, &length);
	if (!f)
		return;
	if (indent > most)
		indent = most;
	fprintf(f, "%*s", (int)indent, "");
	format_name(f, text, NOTE_BYTES);
	if (!fclose(f))
		format_folded(t->f, shown, t->width, indent);
	free(shown);
}

static void spans_put_notes(const struct table *t, const struct span_path *path,
			    const struct span_sum *sum)
{
	char of[64] = "", text[2 * NOTE_BYTES];

	if (sum->nr > 1)
		snprintf(of, sizeof(of), "%zu of %zu ", sum->incomplete, sum->nr);
	snprintf(text, sizeof(text), "(%sINCOMPLETE%s%s)", of, sum->why[0] ? ": " : "", sum->why);
	if (sum->incomplete)
		spans_put_note(t, path->depth, text);
	if (sum->nr > 1)
		snprintf(of, sizeof(of), "%zu of %zu ", sum->unended, sum->nr);
	snprintf(text, sizeof(text), "(%shad not ended when the run did)", of);
	if (sum->unended)
		spans_put_note(t, path->depth, text);
}

static void path_put(const struct table *t, size_t at)
{
	const struct span_path *path = &t->paths->all[at];
	const struct span_sum *sum = &t->sums->of[at];
	char name[SPAN_NAME_BYTES + 8];

	snprintf(name, sizeof(name), "%s%s", path->is_orphan ? "?/" : "",
		 path->name[0] ? path->name : nameless);
	spans_put_row(t, ROW_SPANS, name, path->depth, sum);
	if (t->view->has_spread && sum->nr > 1) {
		spans_put_row(t, ROW_LEAST, "(least)", path->depth + 2, sum);
		spans_put_row(t, ROW_MOST, "(most)", path->depth + 2, sum);
	}
	spans_put_notes(t, path, sum);
}

static bool column_is_needed(const struct table *t, int col)
{
	uint64_t v;

	if (col == COL_COUNT)
		return !t->view->is_each;
	if (col == COL_LONGEST)
		return !t->view->is_each && t->paths->nr_spans > t->paths->nr;
	if (columns[col].value == NR_SPAN_VALUES)
		return true;
	for (size_t i = 0; i < t->paths->nr; i++)
		if (t->sums->of[i].amount[columns[col].value].nr)
			return true;
	return span_value_get(t->run, columns[col].value, &v);
}

static size_t spans_longest_name(const struct table *t)
{
	size_t longest = strlen(rest_label), n;

	for (size_t i = 0; i < t->paths->nr; i++) {
		if (t->paths->all[i].is_hidden)
			continue;
		n = format_columns(t->paths->all[i].name) +
		    (size_t)t->paths->all[i].depth * INDENT + (t->paths->all[i].is_orphan ? 2 : 0);
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void spans_fit_columns(struct table *t)
{
	const size_t width = t->width, name_most = width == SIZE_MAX ? SIZE_MAX : NAME_MOST;
	size_t used = 0, longest = spans_longest_name(t), room;
	const size_t whole = longest < NAME_MOST ? longest : NAME_MOST;

	for (int col = 0; col < NR_COLUMNS; col++) {
		size_t more = (size_t)columns[col].width + 1;
		size_t names = col > COL_FAILED ? whole : NAME_LEAST;

		if (!column_is_needed(t, col))
			continue;
		if (used + more + names + 2 > width)
			break;
		used += more;
		t->shown |= 1U << col;
	}
	room = width > used + 2 + NAME_LEAST ? width - used - 2 : NAME_LEAST;
	room = room > name_most && width < TEXT_UNCUT ? name_most : room;
	t->names = longest < room ? longest : room;
}

static const char *column_title(const struct table *t, int col)
{
	return col == COL_FAILED && t->view->is_each ? "exit" : columns[col].title;
}

static void spans_put_head(const struct table *t)
{
	const char *titles[NR_COLUMNS + 1] = { "span" };
	size_t nr = 1;

	for (int col = 0; col < NR_COLUMNS; col++)
		if (t->shown >> col & 1)
			titles[nr++] = column_title(t, col);
	if (t->view->is_markdown) {
		markdown_head(t->f, titles, nr);
		return;
	}
	fprintf(t->f, "  %-*s", (int)t->names, "span");
	for (int col = 0; col < NR_COLUMNS; col++)
		if (t->shown >> col & 1)
			fprintf(t->f, " %*s", columns[col].width, column_title(t, col));
	fputc('\n', t->f);
}

static void spans_put_hidden(const struct table *t)
{
	char text[NOTE_BYTES], count[FORMAT_BYTES];
	uint64_t nr = t->view->nr_hidden;

	if (!nr)
		return;
	snprintf(text, sizeof(text), "(%s %s%s more: --all)", format_count(count, nr),
		 t->view->is_each ? "span" : "name", nr == 1 ? "" : "s");
	if (t->view->is_markdown)
		spans_row_markdown(t, ROW_SPANS, text, 0, NULL);
	else
		fprintf(t->f, "  %s\n", text);
}

static void spans_put_table(struct table *t)
{
	char text[NOTE_BYTES];
	bool is_markdown = t->view->is_markdown;

	spans_fit_columns(t);
	spans_put_head(t);
	for (size_t at = NO_PATH; (at = span_paths_next(t->paths, at)) != NO_PATH;)
		if (!t->paths->all[at].is_hidden)
			path_put(t, at);
	spans_put_hidden(t);
	spans_put_row(t, ROW_REST, rest_label, 0, NULL);
	spans_put_row(t, ROW_RUN, "= the run", 0, NULL);
	if (!t->run->complete)
		spans_put_note(t, 0, "(INCOMPLETE: bpfmon show has what was lost)");
	if (!t->paths->nr)
		fputs(is_markdown ? "\nthe run has no spans\n" : "  the run has no spans\n", t->f);
	if (!t->paths->left_out)
		return;
	snprintf(text, sizeof(text), "%" PRIu64 " spans more are left out: there are too many",
		 t->paths->left_out);
	spans_put_note(t, 0, text);
}

char *spans_text(const struct span_paths *p, const struct span_sums *s, const struct summary *run,
		 const struct spans_view *view)
{
	char *text = NULL;
	size_t length;
	struct table t = {
		.f = memory_open_memstream(&text, &length),
		.paths = p,
		.sums = s,
		.run = run,
		.view = view,
		.width = view->width && !view->is_markdown ? view->width : SIZE_MAX,
	};
	bool is_short;

	if (!t.f)
		return NULL;
	spans_put_table(&t);
	is_short = ferror(t.f);
	if (!fclose(t.f) && !is_short)
		return text;
	free(text);
	return NULL;
}
