// SPDX-License-Identifier: BSD-2-Clause
#include "study/cell.h"

#include "text/format.h"
#include "study/compare_text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static void middle_format(char *out, const struct comparison *c, size_t group, size_t key)
{
	const struct spread *s = spread_of(c, group, key);
	size_t all = c->groups->list[group].nr;
	size_t n;

	if (!s->nr) {
		snprintf(out, CELL_BYTES, "-");
		return;
	}
	number_format(out, run_key(key).unit, s->median);
	n = strlen(out);
	if (s->nr != all) /* some runs lack the key */
		snprintf(out + n, CELL_BYTES - n, " (n %zu)", s->nr);
}

static void quartiles_format(char *out, const struct comparison *c, size_t group, size_t key)
{
	const struct spread *s = spread_of(c, group, key);

	if (s->nr > 1)
		number_format(out, run_key(key).unit, s->q3 - s->q1);
	else
		snprintf(out, CELL_BYTES, "-");
}

static void against_format(char *out, enum comparison_column col, const struct against *x,
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
	else if (x->is_single && isfinite(x->z))
		snprintf(out, CELL_BYTES, "%.1f", x->z);
	else if (x->verdict != VERDICT_NONE && !x->is_single)
		snprintf(out, CELL_BYTES, x->p_corrected < 0.001 ? "%.1e" : "%.3f", x->p_corrected);
}

void comparison_cell(char out[CELL_BYTES], const struct comparison *c, size_t group,
		     enum comparison_column col, size_t key)
{
	switch (col) {
	case COL_KEY:
		snprintf(out, CELL_BYTES, "%s", run_key(key).name);
		break;
	case COL_FIRST:
		middle_format(out, c, 0, key);
		break;
	case COL_OTHER:
		middle_format(out, c, group, key);
		break;
	case COL_FIRST_IQR:
		quartiles_format(out, c, 0, key);
		break;
	case COL_OTHER_IQR:
		quartiles_format(out, c, group, key);
		break;
	default:
		against_format(out, col, against_of(c, group, key), run_key(key).unit);
	}
}

/* Returns whether one run is judged against several, by its distance instead of a test. */
static bool group_is_single(const struct comparison *c, size_t group)
{
	return c->groups->list[group].nr == 1 && c->groups->list[0].nr > 1;
}

bool comparison_has_column(const struct comparison *c, size_t group, enum comparison_column col)
{
	switch (col) {
	case COL_FIRST_IQR:
		return c->groups->list[0].nr > 1;
	case COL_OTHER_IQR:
		return c->groups->list[group].nr > 1;
	case COL_P:
	case COL_VERDICT:
		return comparison_has_several(c);
	default:
		return true;
	}
}

void comparison_title(char out[CELL_BYTES], const struct comparison *c, size_t group,
		      enum comparison_column col)
{
	const char *title = c->groups->list[col == COL_OTHER ? group : 0].title;

	switch (col) {
	case COL_KEY:
		snprintf(out, CELL_BYTES, "value");
		break;
	case COL_FIRST:
	case COL_OTHER:
		snprintf(out, CELL_BYTES, "%s", title);
		break;
	case COL_FIRST_IQR:
	case COL_OTHER_IQR:
		snprintf(out, CELL_BYTES, "IQR");
		break;
	default:
		snprintf(out, CELL_BYTES, "%s",
			 col == COL_DIFFERENCE ? "difference"
			 : col == COL_RELATIVE ? "relative"
			 : col == COL_P        ? group_is_single(c, group) ? "z" : "p"
					       : "verdict");
	}
}

void comparison_titles_cut(size_t width[NR_COMPARISON_COLUMNS],
			   const size_t cells[NR_COMPARISON_COLUMNS], size_t most)
{
	for (enum comparison_column col = COL_FIRST; col <= COL_OTHER; col++) {
		size_t room = cells[col] > most ? cells[col] : most;

		if (width[col] > room)
			width[col] = room;
	}
}
