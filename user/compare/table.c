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
	size_t width[NR_COMPARISON_COLUMNS]; /* 0: not shown */
};

static bool row_is_shown(const struct table *t, size_t key)
{
	return compare_key(key).name &&
	       (spread_of(t->c, 0, key)->nr || spread_of(t->c, t->group, key)->nr);
}

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
		for (size_t key = 0; key < NR_KEYS; key++) {
			if (!row_is_shown(t, key))
				continue;
			comparison_cell(text, t->c, t->group, col, key);
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

void comparison_table(FILE *f, const struct comparison *c, size_t group, size_t width)
{
	struct table t = { .c = c, .group = group };
	char text[CELL_BYTES];

	columns_fit(&t, width);
	fputc('\n', f);
	for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
		comparison_title(text, c, group, col);
		cell_put(f, &t, col, text);
	}
	fputc('\n', f);
	for (size_t key = 0; key < NR_KEYS; key++) {
		if (!row_is_shown(&t, key))
			continue;
		for (enum comparison_column col = 0; col < NR_COMPARISON_COLUMNS; col++) {
			comparison_cell(text, c, group, col, key);
			cell_put(f, &t, col, text);
		}
		fputc('\n', f);
	}
}
