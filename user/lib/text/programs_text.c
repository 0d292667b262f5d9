// SPDX-License-Identifier: BSD-2-Clause
#include "text/programs_text.h"

#include "text/format.h"
#include "text/summary_parts.h"

#define PROGRAMS_SHOWN 10
#define NAME_COLUMNS 34
#define LEAST_NAME 16 /* where the line is narrow */

struct columns {
	bool cpu, peak, io;
	size_t name;
};

/* The columns of a row; the number of processes is always shown. */
static size_t programs_width(const struct columns *show)
{
	return 2 + show->name + 10 + (show->cpu ? 12 : 0) + (show->peak ? 11 : 0) +
	       (show->io ? 22 : 0);
}

static void programs_fit_columns(struct columns *show, size_t width)
{
	size_t over;

	if (!width)
		return;
	show->name = LEAST_NAME;
	if (programs_width(show) > width)
		show->io = false;
	if (programs_width(show) > width)
		show->peak = false;
	over = programs_width(show);
	show->name = width > over ? LEAST_NAME + width - over : LEAST_NAME;
	if (show->name > NAME_COLUMNS)
		show->name = NAME_COLUMNS;
}

/* A value that was not read is "-", not zero. */
static void program_put_bytes(FILE *f, const struct program *p, enum metric_id id)
{
	char a[FORMAT_BYTES];

	fprintf(f, " %10s", metric_has(&p->have, id) ? format_bytes(a, p->value[id]) : "-");
}

static void program_put_row(FILE *f, const struct program *p, const char *name,
			    const struct columns *show)
{
	char a[FORMAT_BYTES];

	fputs("  ", f);
	format_padded(f, name, show->name);
	fprintf(f, " %9s", p->processes ? format_count(a, p->processes) : "-");
	if (show->cpu)
		fprintf(f, " %11s",
			metric_has(&p->have, M_cpu) ? format_seconds(a, p->value[M_cpu]) : "-");
	if (show->peak)
		fprintf(f, " %10s", p->has_rss_peak ? format_bytes(a, p->rss_peak_bytes) : "-");
	if (show->io) {
		program_put_bytes(f, p, M_read);
		program_put_bytes(f, p, M_write);
	}
	fputc('\n', f);
}

static void program_add(struct program *all, const struct program *p)
{
	all->processes += p->processes;
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&p->have, (enum metric_id)i))
			continue;
		all->value[i] += p->value[i];
		metric_put(&all->have, (enum metric_id)i);
	}
	if (p->has_rss_peak && p->rss_peak_bytes >= all->rss_peak_bytes) {
		all->has_rss_peak = true;
		all->rss_peak_bytes = p->rss_peak_bytes;
	}
}

/* Without BPF: of the totals, what is in no record, as it was used between samples. */
static void programs_put_rest(FILE *f, const struct summary *s, const struct columns *show)
{
	struct program all = { 0 }, rest = { 0 };

	for (size_t i = 0; i < s->nr_programs; i++)
		program_add(&all, &s->programs[i]);
	for (int i = 0; i < NR_METRICS; i++) {
		if (!metric_has(&all.have, (enum metric_id)i) || !summary_has_total(s, i))
			continue;
		if (s->total.value[i] > all.value[i])
			rest.value[i] = s->total.value[i] - all.value[i];
		metric_put(&rest.have, (enum metric_id)i);
	}
	if (s->bounds.is_from_proc && rest.value[M_cpu])
		program_put_row(f, &rest, "(ended between samples)", show);
}

void programs_text(FILE *f, const struct summary *s, size_t width)
{
	struct columns show = {
		.cpu = summary_has_total(s, M_cpu),
		.io = summary_has_total(s, M_read) && summary_has_total(s, M_write),
		.name = NAME_COLUMNS,
	};
	struct program others = { 0 };
	size_t shown = s->nr_programs <= PROGRAMS_SHOWN + 1 ? s->nr_programs : PROGRAMS_SHOWN;
	char name[64];

	for (size_t i = 0; i < s->nr_programs; i++)
		show.peak |= s->programs[i].has_rss_peak;
	if (!s->nr_programs)
		return;
	programs_fit_columns(&show, width);
	fprintf(f, "\n  %-*s %9s", (int)show.name, "program", "processes");
	fprintf(f, "%s%s%s\n", show.cpu ? "         CPU" : "", show.peak ? "   peak RSS" : "",
		show.io ? "       read    written" : "");
	for (size_t i = 0; i < shown; i++)
		program_put_row(f, &s->programs[i],
				s->programs[i].exe ? s->programs[i].exe : "(unknown)", &show);
	for (size_t i = shown; i < s->nr_programs; i++)
		program_add(&others, &s->programs[i]);
	snprintf(name, sizeof(name), "others (%zu programs)", s->nr_programs - shown);
	if (shown < s->nr_programs)
		program_put_row(f, &others, name, &show);
	programs_put_rest(f, s, &show);
}
