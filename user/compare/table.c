// SPDX-License-Identifier: BSD-2-Clause
#include "compare/table.h"

#include "compare/number.h"
#include "compare/text.h"
#include "view/format.h"

#include <string.h>

#define CELL_BYTES 96
#define LEAST_KEY 12 /* columns */

/* The row of a key, for one group against the first. */
enum column {
	COL_KEY,
	COL_FIRST,
	COL_FIRST_IQR,
	COL_OTHER,
	COL_OTHER_IQR,
	COL_DIFFERENCE,
	COL_RELATIVE,
	COL_P,
	COL_VERDICT,
	NR_COLUMNS
};

/* Which go first where the line is too narrow. */
static const enum column spare[] = { COL_FIRST_IQR, COL_OTHER_IQR, COL_DIFFERENCE,
				     COL_P,         COL_VERDICT,   COL_RELATIVE };
#define NR_SPARE (sizeof(spare) / sizeof(*spare))

struct table {
	const struct comparison *c;
	size_t group;
	size_t width[NR_COLUMNS]; /* 0: not shown */
};

static void middle_format(char *out, const struct table *t, size_t group, size_t key)
{
	const struct spread *s = spread_of(t->c, group, key);
	size_t all = t->c->groups->list[group].nr;
	size_t n;

	if (!s->nr) {
		snprintf(out, CELL_BYTES, "-");
		return;
	}
	number_format(out, compare_key(key).unit, s->median);
	n = strlen(out);
	if (s->nr != all) /* some of them lack the key */
		snprintf(out + n, CELL_BYTES - n, " (n %zu)", s->nr);
}

static void quartiles_format(char *out, const struct table *t, size_t group, size_t key)
{
	const struct spread *s = spread_of(t->c, group, key);

	if (s->nr > 1)
		number_format(out, compare_key(key).unit, s->q3 - s->q1);
	else
		snprintf(out, CELL_BYTES, "-");
}

static void against_format(char *out, enum column col, const struct against *x,
			   enum metric_unit unit)
{
	snprintf(out, CELL_BYTES, "-");
	if (!x->has_both)
		return;
	if (col == COL_DIFFERENCE)
		number_difference(out, unit, x->difference);
	else if (col == COL_RELATIVE)
		number_relative(out, x->relative);
	else if (col == COL_VERDICT)
		snprintf(out, CELL_BYTES, "%s", verdict_name(x->verdict));
	else if (x->verdict != VERDICT_NONE)
		snprintf(out, CELL_BYTES, x->p_corrected < 0.001 ? "%.1e" : "%.3f", x->p_corrected);
}

static void cell_format(char out[CELL_BYTES], const struct table *t, enum column col, size_t key)
{
	switch (col) {
	case COL_KEY:
		snprintf(out, CELL_BYTES, "%s", compare_key(key).name);
		break;
	case COL_FIRST:
		middle_format(out, t, 0, key);
		break;
	case COL_OTHER:
		middle_format(out, t, t->group, key);
		break;
	case COL_FIRST_IQR:
		quartiles_format(out, t, 0, key);
		break;
	case COL_OTHER_IQR:
		quartiles_format(out, t, t->group, key);
		break;
	default:
		against_format(out, col, against_of(t->c, t->group, key), compare_key(key).unit);
	}
}

static void title_format(char out[CELL_BYTES], const struct table *t, enum column col)
{
	char label[24];

	group_label(label, col == COL_OTHER || col == COL_OTHER_IQR ? t->group : 0);
	switch (col) {
	case COL_KEY:
		snprintf(out, CELL_BYTES, "value");
		break;
	case COL_FIRST:
	case COL_OTHER:
		snprintf(out, CELL_BYTES, "%s%s", label,
			 comparison_has_several(t->c) ? " median" : "");
		break;
	case COL_FIRST_IQR:
	case COL_OTHER_IQR:
		snprintf(out, CELL_BYTES, "%s IQR", label);
		break;
	default:
		snprintf(out, CELL_BYTES, "%s",
			 col == COL_DIFFERENCE ? "difference"
			 : col == COL_RELATIVE ? "relative"
			 : col == COL_P        ? "p"
					       : "verdict");
	}
}

static bool row_is_shown(const struct table *t, size_t key)
{
	return compare_key(key).name &&
	       (spread_of(t->c, 0, key)->nr || spread_of(t->c, t->group, key)->nr);
}

static size_t line_width(const struct table *t)
{
	size_t sum = 0;

	for (size_t col = 0; col < NR_COLUMNS; col++)
		sum += t->width[col] ? t->width[col] + 2 : 0;
	return sum;
}

/* As wide as the widest cell; then columns go until the line fits, at last the keys are cut. */
static void columns_fit(struct table *t, size_t width)
{
	char text[CELL_BYTES];
	size_t over;

	for (enum column col = 0; col < NR_COLUMNS; col++) {
		title_format(text, t, col);
		t->width[col] = strlen(text);
		for (size_t key = 0; key < NR_KEYS; key++) {
			if (!row_is_shown(t, key))
				continue;
			cell_format(text, t, col, key);
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

static void cell_put(FILE *f, const struct table *t, enum column col, const char *text)
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
	for (enum column col = 0; col < NR_COLUMNS; col++) {
		title_format(text, &t, col);
		cell_put(f, &t, col, text);
	}
	fputc('\n', f);
	for (size_t key = 0; key < NR_KEYS; key++) {
		if (!row_is_shown(&t, key))
			continue;
		for (enum column col = 0; col < NR_COLUMNS; col++) {
			cell_format(text, &t, col, key);
			cell_put(f, &t, col, text);
		}
		fputc('\n', f);
	}
}
