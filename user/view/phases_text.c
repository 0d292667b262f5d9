// SPDX-License-Identifier: BSD-2-Clause
#include "view/phases_text.h"

#include "view/format.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEAST 16
#define NAME_MOST 40

/* The most useful first: a narrow terminal leaves out the last ones. */
/* clang-format off */
static const struct column {
	const char *title;
	int width;
	enum metric_id id; /* NR_METRICS: the phase's duration */
	char *(*format)(char *out, uint64_t v);
} columns[] = {
	{ "wall",     11, NR_METRICS,      format_seconds },
	{ "CPU",      11, M_cpu,           format_seconds },
	{ "peak RSS", 10, M_rss,           format_bytes },
	{ "read",     10, M_read,          format_bytes },
	{ "written",  10, M_write,         format_bytes },
	{ "started",   9, M_forks,         format_count },
	{ "user",     11, M_user,          format_seconds },
	{ "system",   11, M_system,        format_seconds },
	{ "waited",   11, M_runqueue_wait, format_seconds },
};
/* clang-format on */
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

static const char *phase_label(const struct phase *ph)
{
	return ph->text ? ph->text : "(start)";
}

/* The label of the row for @ph and the phases that share its values. */
static const char *phase_group_label(char *out, size_t size, const struct phase *ph)
{
	snprintf(out, size, "= these %zu", ph->nr_shared);
	return out;
}

/* Whether any phase has the column's metric; a column of "-" only is left out. */
static bool phases_have_column(const struct phases *p, const struct column *c)
{
	bool is = c->id == NR_METRICS;

	for (size_t i = 0; !is && i < p->nr; i++)
		is = metric_has(&p->all[i].have, c->id);
	return is;
}

static void phase_put_cell(FILE *f, const struct phase *ph, const struct column *c,
			   uint64_t wall_ns, bool is_shared)
{
	char text[FORMAT_BYTES] = "-";

	if (c->id == NR_METRICS)
		c->format(text, wall_ns);
	else if (is_shared)
		snprintf(text, sizeof(text), "|");
	else if (metric_has(&ph->have, c->id))
		c->format(text, ph->value[c->id]);
	fprintf(f, " %*s", c->width, text);
}

/* Sets the bits of the columns to show; returns the width of the name. */
static size_t phases_choose_columns(const struct phases *p, size_t width, unsigned *shown)
{
	size_t used = 0, longest = strlen("phase"), room, n;
	char text[NAME_MOST];

	*shown = 0;
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		size_t more = (size_t)columns[i].width + 1;

		if (!phases_have_column(p, &columns[i]))
			continue;
		if (used + more + NAME_LEAST + 2 > width)
			break;
		used += more;
		*shown |= 1U << i;
	}
	for (size_t i = 0; i < p->nr; i++) {
		n = format_columns(phase_label(&p->all[i]));
		longest = n > longest ? n : longest;
		n = p->all[i].nr_shared > 1
			    ? strlen(phase_group_label(text, sizeof(text), &p->all[i]))
			    : 0;
		longest = n > longest ? n : longest;
	}
	room = width > used + 2 ? width - used - 2 : NAME_LEAST;
	room = room > NAME_MOST ? NAME_MOST : room;
	return longest < room ? longest : room;
}

static void phase_put_row(FILE *f, const struct phase *ph, const char *name, size_t names,
			  unsigned shown, uint64_t wall_ns, bool is_shared)
{
	fputs("  ", f);
	format_padded(f, name, names);
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (shown >> i & 1)
			phase_put_cell(f, ph, &columns[i], wall_ns, is_shared);
	fputc('\n', f);
}

/* The phases of a group one by one, and below them their common values. */
static void phase_put_group(FILE *f, const struct phase *first, size_t names, unsigned shown)
{
	const struct phase *last = first + first->nr_shared - 1;
	bool is_shared = first->nr_shared > 1;
	char text[NAME_MOST];

	for (const struct phase *ph = first; ph <= last; ph++)
		phase_put_row(f, ph, phase_label(ph), names, shown, ph->end_ns - ph->start_ns,
			      is_shared);
	if (is_shared)
		phase_put_row(f, first, phase_group_label(text, sizeof(text), first), names, shown,
			      last->end_ns - first->start_ns, false);
}

static void phases_put_table(FILE *f, const struct phases *p, size_t width)
{
	bool is_shared = false;
	unsigned shown;
	size_t names = phases_choose_columns(p, width, &shown);

	fprintf(f, "  %-*s", (int)names, "phase");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		if (shown >> i & 1)
			fprintf(f, " %*s", columns[i].width, columns[i].title);
	fputc('\n', f);
	for (size_t k = 0; k < p->nr; k += p->all[k].nr_shared) {
		phase_put_group(f, &p->all[k], names, shown);
		is_shared |= p->all[k].nr_shared > 1;
	}
	if (is_shared)
		format_folded(f,
			      "  | no sample tells these apart: what they used together is below",
			      width, 4);
	if (p->left_out)
		fprintf(f, "  %" PRIu64 " marks more begin no phase here: there are too many\n",
			p->left_out);
}

char *phases_text(const struct phases *p, size_t width)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (!f)
		return NULL;
	phases_put_table(f, p, width);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}
