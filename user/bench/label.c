// SPDX-License-Identifier: BSD-2-Clause
#include "bench/label.h"

#include "view/format.h"

#define DOTS 3 /* columns, that format_name() puts before what it has cut */

size_t case_label_put(FILE *f, const char *label, size_t width)
{
	size_t used = 0;

	if (format_columns(label) > width && width > DOTS)
		used = format_beginning(f, label, (width - DOTS) / 2);
	return used + format_name(f, label, width - used);
}

void case_label_begin(FILE *f, const char *label, size_t width)
{
	size_t n;

	fputs("  ", f);
	n = case_label_put(f, label, width);
	fprintf(f, "%*s", (int)(width - n), "");
}

size_t label_width(size_t longest, size_t width, size_t cells)
{
	const size_t used = 2 + cells;
	size_t most = width > used + LEAST_LABEL ? width - used : LEAST_LABEL;

	return longest < most ? longest : most;
}

size_t label_longest(const struct bench_result *r)
{
	size_t longest = 4;

	for (size_t i = 0; i < r->groups.nr; i++) {
		size_t n = format_columns(r->groups.list[i].name);

		longest = n > longest ? n : longest;
	}
	return longest;
}

size_t group_at(const struct bench_result *r, size_t nth)
{
	for (size_t of = 0; of < r->plan->nr; of++)
		for (size_t g = 0; g < r->groups.nr; g++)
			if (r->case_of[g] == of && !nth--)
				return g;
	return 0;
}
