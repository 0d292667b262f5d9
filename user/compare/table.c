// SPDX-License-Identifier: BSD-2-Clause
#include "compare/table.h"

#include "compare/cell.h"
#include "view/format.h"

#include <string.h>

#define LEAST_KEY 12 /* columns */

/* Which go first where the line is too narrow. */
static const enum comparison_column spare[] = { COL_FIRST_IQR, COL_OTHER_IQR, COL_DIFFERENCE,
						COL_P,         COL_VERDICT,   COL_RELATIVE };
#define NR_SPARE (sizeof(spare) / sizeof(*spare))

struct table {
	const struct comparison *c;
	size_t group;
	struct comparison_rows rows;
	size_t width[NR_COMPARISON_COLUMNS]; /* 0: not shown */
};

static size_t line_width(const struct table *t)
{
	size_t sum = 0;

	for (size_t col = 0; col < NR_COMPARISON_COLUMNS; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

/* As wide as the widest cell; then columns go until the line fits, at last the keys are cut. */
static void columns_fit(struct table *t, size_t width)
{
	char text[CELL_BYTES];
	size_t over;

	for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_title(text, t->c, t->group, col);
		t->width[col] = strlen(text);
		for (size_t i = 0; i < t->rows.nr; i++) {
			comparison_cell(text, t->c, t->group, col, t->rows.keys[i]);
			if (strlen(text) > t->width[col])
				t->width[col] = strlen(text);
		}
	}
	if (!comparison_has_several(t->c))
		t->width[COL_FIRST_IQR] = t->width[COL_OTHER_IQR] = t->width[COL_P] =
			t->width[COL_VERDICT] = 0;
	for (size_t i = 0; i < NR_SPARE && line_width(t) > width; i++)
		t->width[spare[i]] = 0;
	over = line_width(t) > width ? line_width(t) - width : 0;
	if (over && t->width[COL_KEY] > LEAST_KEY + over)
		t->width[COL_KEY] -= over;
	else if (over)
		t->width[COL_KEY] = LEAST_KEY;
}

static void cell_put(FILE *f, const struct table *t, enum comparison_column col, const char *text)
{
	if (!t->width[col])
		return;
	fputs("  ", f);
	if (col == COL_VERDICT) { /* the last */
		fputs(text, f);
	} else if (col == COL_KEY) {
		format_padded(f, text, t->width[col]);
	} else {
		fprintf(f, "%*s", (int)t->width[col], text);
	}
}

/* The values without a row, by why they have none. */
static void left_out_put(FILE *f, const struct table *t, size_t width)
{
	static const char *const of[] = {
		[ROW_EQUAL] = "equal",
		[ROW_SMALL] = "within 1 %",
		[ROW_NOISE] = "may be noise",
		[ROW_CHANGED] = "of the same memory",
		[ROW_ONE_SIDED] = "of one side alone",
	};
	const char *between = "  ";
	char text[200];
	size_t n = 0;

	for (int state = ROW_CHANGED; state > ROW_ABSENT; state--) {
		if (!t->rows.left_out[state])
			continue;
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%zu %s", between,
				      t->rows.left_out[state], of[state]);
		between = ", ";
	}
	if (!n)
		return;
	snprintf(text + n, sizeof(text) - n, ": --all shows them");
	format_folded(f, text, width, 2);
}

void comparison_table(FILE *f, const struct comparison *c, size_t group,
		      const struct row_choice *choice, size_t width)
{
	struct table t = { .c = c, .group = group };
	char text[CELL_BYTES];

	comparison_choose_rows(&t.rows, c, group, choice);
	if (t.rows.nr) {
		columns_fit(&t, width);
		fputc('\n', f);
		for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
			comparison_title(text, c, group, col);
			cell_put(f, &t, col, text);
		}
		fputc('\n', f);
	}
	for (size_t i = 0; i < t.rows.nr; i++) {
		for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
			comparison_cell(text, c, group, col, t.rows.keys[i]);
			cell_put(f, &t, col, text);
		}
		fputc('\n', f);
	}
	left_out_put(f, &t, width);
}
