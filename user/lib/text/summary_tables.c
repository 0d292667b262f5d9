// SPDX-License-Identifier: BSD-2-Clause
#include "text/summary_tables.h"

#include "text/format.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAMS_SHOWN 10
#define NAME_COLUMNS 34
#define LEAST_NAME 16 /* on a narrow line */
#define LABEL_NAME 23 /* for "(ended between samples)" */

struct columns {
	bool cpu, peak, io;
	size_t name;
};

/* The number of processes is always shown. */
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
	show->name = LABEL_NAME; /* rather than to cut a label, leave out columns */
	if (programs_width(show) > width)
		show->io = false;
	if (programs_width(show) > width)
		show->peak = false;
	show->name = LEAST_NAME;
	over = programs_width(show);
	show->name = width > over ? LEAST_NAME + width - over : LEAST_NAME;
	if (show->name > NAME_COLUMNS)
		show->name = NAME_COLUMNS;
}

/* Writes "-" for a value that was not read. */
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

/*
 * Without BPF, processes that started and ended between two samples have no record. Writes the part
 * of the totals that no record has.
 */
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

void main_program_text(FILE *f, const struct summary *s)
{
	const struct program *most = s->programs;
	const char *slash;

	if (s->nr_programs < 2)
		return;
	for (size_t i = 1; i < s->nr_programs; i++)
		if (s->programs[i].value[M_cpu] > most->value[M_cpu])
			most = &s->programs[i];
	if (!most->exe || !most->value[M_cpu])
		return;
	slash = strrchr(most->exe, '/');
	fputs(", most CPU: ", f);
	format_name(f, slash && slash[1] ? slash + 1 : most->exe, NAME_COLUMNS);
}

#define ROWS_SHOWN 10
#define LEAST_COLUMN 10
#define MOST_COLUMNS 6
#define BAR_COLUMNS 40

/* Instances of one dimension, which are consecutive. */
struct dimension {
	const struct instance *first;
	size_t nr;
};

struct value_columns {
	enum metric_id id[MOST_COLUMNS];
	size_t nr, name;
};

/* Returns the length of the key without its unit, which the values show. */
static int title_columns(enum metric_id id)
{
	const struct metric *m = metric_get(id);
	size_t n = strlen(m->key), unit = strlen(metric_unit_word(m->unit));

	if (unit && n > unit && !strcmp(m->key + n - unit, metric_unit_word(m->unit)))
		n -= unit + 1;
	return (int)n;
}

static int column_width(enum metric_id id)
{
	return title_columns(id) > LEAST_COLUMN ? title_columns(id) : LEAST_COLUMN;
}

static bool dimension_has(const struct dimension *d, enum metric_id id)
{
	for (size_t i = 0; i < d->nr; i++)
		if (metric_has(&d->first[i].have, id) && d->first[i].value[id])
			return true;
	return false;
}

static void value_columns_choose(const struct dimension *d, size_t width, struct value_columns *c)
{
	size_t used = 2 + LEAST_NAME;

	c->nr = 0;
	for (int i = 0; i < NR_METRICS && c->nr < MOST_COLUMNS; i++) {
		enum metric_id id = (enum metric_id)i;
		size_t takes = 2 + (size_t)column_width(id);

		if (!dimension_has(d, id) || (width && used + takes > width))
			continue;
		c->id[c->nr++] = id;
		used += takes;
	}
	c->name = width && width < used + NAME_COLUMNS - LEAST_NAME ? LEAST_NAME : NAME_COLUMNS;
}

static void instance_put_row(FILE *f, const struct instance *i, const char *name,
			     const struct value_columns *c)
{
	char a[FORMAT_BYTES];

	fputs("  ", f);
	format_padded(f, name, c->name);
	for (size_t at = 0; at < c->nr; at++)
		fprintf(f, "  %*s", column_width(c->id[at]),
			metric_has(&i->have, c->id[at])
				? format_value(a, metric_get(c->id[at])->unit, i->value[c->id[at]])
				: "-");
	fputc('\n', f);
}

static void instance_add(struct instance *sum, const struct instance *i)
{
	for (size_t m = 0; m < NR_METRICS; m++)
		sum->value[m] += i->value[m];
	metric_set_join(&sum->have, &i->have);
}

static void dimension_put(FILE *f, const struct dimension *d, size_t width)
{
	size_t shown = d->nr <= ROWS_SHOWN + 1 ? d->nr : ROWS_SHOWN;
	struct instance others = { 0 };
	struct value_columns c;
	char name[64];

	value_columns_choose(d, width, &c);
	if (!c.nr)
		return;
	fputs("\n  ", f);
	format_padded(f, d->first->dimension, c.name);
	for (size_t i = 0; i < c.nr; i++)
		fprintf(f, "  %*.*s", column_width(c.id[i]), title_columns(c.id[i]),
			metric_get(c.id[i])->key);
	fputc('\n', f);
	for (size_t i = 0; i < shown; i++)
		instance_put_row(f, &d->first[i], d->first[i].name, &c);
	for (size_t i = shown; i < d->nr; i++)
		instance_add(&others, &d->first[i]);
	snprintf(name, sizeof(name), "others (%zu)", d->nr - shown);
	if (shown < d->nr)
		instance_put_row(f, &others, name, &c);
}

void instances_text(FILE *f, const struct summary *s, size_t width)
{
	const struct instance *all = s->total.instances;
	struct dimension d = { .first = all };

	for (size_t i = 0; i < s->total.nr_instances; i++) {
		if (strcmp(all[i].dimension, d.first->dimension) != 0) {
			dimension_put(f, &d, width);
			d = (struct dimension){ .first = &all[i] };
		}
		d.nr++;
	}
	if (d.nr)
		dimension_put(f, &d, width);
}

static void latency_put_bar(FILE *f, uint64_t count, uint64_t most)
{
	int columns = (int)((double)count / (double)most * BAR_COLUMNS + 0.5);

	fputs(columns ? "  " : "", f);
	while (columns-- > 0)
		fputc('#', f);
	fputc('\n', f);
}

/* Like format_seconds(), for shorter times. */
static const char *latency_format(char out[FORMAT_BYTES], uint64_t ns)
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double value = (double)ns;
	size_t unit = 0;

	for (; value >= 1000 && unit < 3; unit++)
		value /= 1000;
	snprintf(out, FORMAT_BYTES, "%.*f %s", value < 10 && unit ? 1 : 0, value, units[unit]);
	return out;
}

static void latency_put(FILE *f, const struct block_latency *l)
{
	unsigned first = LATENCY_BUCKETS, last = 0;
	char a[FORMAT_BYTES], b[FORMAT_BYTES];
	uint64_t most = 0;

	for (unsigned i = 0; i < LATENCY_BUCKETS; i++) {
		if (!l->count[i])
			continue;
		first = i < first ? i : first;
		last = i;
		most = l->count[i] > most ? l->count[i] : most;
	}
	if (!most)
		return;
	fputs("\n  ", f);
	format_name(f, l->device, NAME_COLUMNS);
	fprintf(f, ", %s: %s operations, 99 %% of them in less than %s\n",
		latency_direction_name(l->direction), format_count(a, latency_operations(l)),
		latency_format(b, latency_percentile_ns(l, 99)));
	for (unsigned i = first; i <= last; i++) {
		fprintf(f, "  < %7s  %9s", latency_format(a, latency_upper_ns(i)),
			format_count(b, l->count[i]));
		latency_put_bar(f, l->count[i], most);
	}
}

void latencies_text(FILE *f, const struct summary *s)
{
	for (size_t i = 0; i < s->latencies.nr; i++)
		latency_put(f, &s->latencies.all[i]);
}

#define HEAVIEST_NAME_COLUMNS 25 /* the other columns take at least 51 */

/* clang-format off */
static const struct column {
	const char *title;
	int width;
	enum metric_id id;
	char *(*format)(char *out, uint64_t v);
} columns[] = {
	{ "resident",  10, M_rss,      format_bytes },
	{ "anonymous", 10, M_rss_anon, format_bytes },
	{ "swapped",    9, M_swap,     format_bytes },
	{ "CPU",       10, M_cpu,      format_seconds },
};
/* clang-format on */
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

static void heaviest_put_head(FILE *f, const char *when, uint64_t elapsed_ns)
{
	char at[FORMAT_BYTES], title[FORMAT_BYTES + 16];

	snprintf(title, sizeof(title), "%s (%s)", when, format_seconds(at, elapsed_ns));
	fprintf(f, "\n  %-*s %8s", HEAVIEST_NAME_COLUMNS, title, "pid");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		fprintf(f, " %*s", columns[i].width, columns[i].title);
	fputc('\n', f);
}

/* Writes "-" for a value that was not read. */
static void heaviest_put_row(FILE *f, const struct process_sample *p)
{
	char text[FORMAT_BYTES];

	fputs("  ", f);
	format_padded(f, p->comm[0] ? p->comm : "(unknown)", HEAVIEST_NAME_COLUMNS);
	fprintf(f, " %8d", p->pid);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		const struct column *c = &columns[i];
		bool is_known = metric_has(&p->have, c->id);

		fprintf(f, " %*s", c->width, is_known ? c->format(text, p->value[c->id]) : "-");
	}
	fputc('\n', f);
}

void heaviest_text(FILE *f, const char *when, const struct process_sample *rows, size_t nr)
{
	if (nr)
		heaviest_put_head(f, when, rows->elapsed_ns);
	for (size_t i = 0; i < nr; i++)
		heaviest_put_row(f, &rows[i]);
}
