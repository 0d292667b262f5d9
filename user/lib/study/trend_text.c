// SPDX-License-Identifier: BSD-2-Clause
/* A trend for people, what changed and a table of revisions, and for programs. */
#include "study/trend.h"

#include "base/buffer.h"
#include "base/text.h"
#include "text/compared_number.h"
#include "text/format.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define SHORT_REVISION 10
#define INDENT 4
#define SEEN 0.0005 /* below that a change of the median is 0.0 % */
#define NARROW 70   /* columns: below that the table has no times */

/* "it uses 12 % more CPU time" */
static const struct {
	const char *key, *verb, *noun;
} meanings[] = {
	{ "wall_seconds", "it takes", "" },
	{ "cpu_seconds", "it uses", " CPU time" },
	{ "memory_needed_bytes", "it needs", " memory" },
	{ "rss_peak_bytes", "it holds", " resident memory" },
};

static double change_relative(double before, double after)
{
	return before != 0 ? after / before - 1 : after > 0 ? INFINITY : 0;
}

static void change_put_size(struct buffer *t, double relative)
{
	double percent = fabs(relative) * 100;

	if (isinf(relative))
		buffer_puts(t, "more than the 0 before");
	else if (relative > 9)
		buffer_printf(t, "%.3g times as much", relative + 1);
	else
		buffer_printf(t, "%.*f %% %s", percent < 10 || (percent > 99 && relative < 0),
			      percent, relative < 0 ? "less" : "more");
}

static void change_put_meaning(struct buffer *t, const char *key, double relative)
{
	size_t at = 0;

	while (at < sizeof(meanings) / sizeof(*meanings) && strcmp(meanings[at].key, key) != 0)
		at++;
	if (fabs(relative) < SEEN) {
		buffer_printf(t, "%s is spread otherwise around the same median", key);
	} else if (at == sizeof(meanings) / sizeof(*meanings) || isinf(relative)) {
		buffer_printf(t, "%s is ", key);
		change_put_size(t, relative);
	} else {
		buffer_printf(t, "%s ", meanings[at].verb);
		change_put_size(t, relative);
		buffer_puts(t, meanings[at].noun);
	}
}

static int trend_change_put(FILE *f, const struct trend *t, const struct trend_change *c,
			    size_t width)
{
	char a[NUMBER_BYTES], b[NUMBER_BYTES], m[NUMBER_BYTES], n[NUMBER_BYTES];
	struct buffer line = { 0 };

	buffer_printf(&line, "since %.*s ", SHORT_REVISION, t->list[c->revision].id);
	change_put_meaning(&line, t->key, change_relative(c->before, c->after));
	buffer_printf(&line, " (p=%.2g): %s in %s runs against %s in %s", c->p,
		      number_format(a, t->unit, c->after), format_count(m, c->nr_after),
		      number_format(b, t->unit, c->before), format_count(n, c->nr_before));
	return format_folded_buffer(f, &line, width, INDENT);
}

static void trend_put_head(FILE *f, const struct trend *t, size_t width)
{
	char line[400], name[100], a[NUMBER_BYTES], b[NUMBER_BYTES];
	size_t n;

	snprintf(name, sizeof(name), "%s", t->name ? t->name : "");
	text_disarm(name);
	n = (size_t)snprintf(line, sizeof(line), "%s%s%s of %s run%s at %s revision%s", name,
			     *name ? ": " : "", t->key, format_count(a, t->nr_values),
			     t->nr_values == 1 ? "" : "s", format_count(b, t->nr),
			     t->nr == 1 ? "" : "s");
	if (t->nr_left)
		snprintf(line + n, sizeof(line) - n,
			 "; %s more did not end well, or have no revision or no value",
			 format_count(a, t->nr_left));
	format_folded(f, line, width, INDENT);
}

static int trend_put_verdict(FILE *f, const struct trend *t, size_t width)
{
	char line[200];
	int err = 0;

	for (size_t i = 0; !err && i < t->nr_changes; i++)
		err = trend_change_put(f, t, &t->changes[i], width);
	if (t->nr_changes)
		return err;
	if (t->is_enough)
		snprintf(line, sizeof(line), "no change is more than noise (p=%.2g)", t->p);
	else if (t->nr == 1)
		snprintf(line, sizeof(line), "all runs are of one revision");
	else
		snprintf(line, sizeof(line), "too few runs to tell whether it has changed");
	format_folded(f, line, width, INDENT);
	return 0;
}

static bool revision_is_change(const struct trend *t, size_t revision)
{
	for (size_t i = 0; i < t->nr_changes; i++)
		if (t->changes[i].revision == revision)
			return true;
	return false;
}

static void revision_put(FILE *f, const struct trend *t, size_t i, size_t width)
{
	const struct revision *r = &t->list[i];
	char moment[MOMENT_BYTES], count[NUMBER_BYTES], median[NUMBER_BYTES], change[NUMBER_BYTES];

	fprintf(f, "  %-*.*s", SHORT_REVISION, SHORT_REVISION, r->id);
	if (width >= NARROW)
		fprintf(f, "  %-20s", format_moment(moment, r->first_ns, false));
	fprintf(f, " %7s  %10s", format_count(count, r->nr),
		number_format(median, t->unit, r->median));
	if (i)
		fprintf(f, "  %8s%s",
			number_relative(change, change_relative(t->list[i - 1].median, r->median)),
			revision_is_change(t, i) ? " <" : "");
	fputc('\n', f);
}

int trend_text(FILE *f, const struct trend *t, size_t limit, size_t width)
{
	size_t from = limit && limit < t->nr ? t->nr - limit : 0;

	trend_put_head(f, t, width);
	if (!t->nr)
		return 0;
	if (trend_put_verdict(f, t, width))
		return -ENOMEM;
	fprintf(f, "\n  %-*s", SHORT_REVISION, "revision");
	if (width >= NARROW)
		fprintf(f, "  %-20s", "first run");
	fprintf(f, " %7s  %10s  %8s\n", "runs", "median", "change");
	for (size_t i = from; i < t->nr; i++)
		revision_put(f, t, i, width);
	if (from)
		fprintf(f, "the last %zu of %zu revisions; --limit 0 shows all\n", limit, t->nr);
	return 0;
}

static void trend_put_relative(struct jsonw *j, double before, double after)
{
	jsonw_double(j, "relative", change_relative(before, after)); /* null: from 0 to more */
}

static void revision_json(struct jsonw *j, const struct trend *t, size_t i)
{
	const struct revision *r = &t->list[i];

	jsonw_object(j, NULL);
	jsonw_string(j, "revision", r->id);
	jsonw_decimal(j, "first_time", r->first_ns / 1000, 6);
	jsonw_uint(j, "count", r->nr);
	jsonw_double(j, "median", number_as_measured(t->unit, r->median));
	if (i)
		trend_put_relative(j, t->list[i - 1].median, r->median);
	jsonw_object_end(j);
}

static void change_json(struct jsonw *j, const struct trend *t, const struct trend_change *c)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "since", t->list[c->revision].id);
	jsonw_double(j, "p", c->p);
	jsonw_double(j, "before", number_as_measured(t->unit, c->before));
	jsonw_double(j, "after", number_as_measured(t->unit, c->after));
	trend_put_relative(j, c->before, c->after);
	jsonw_uint(j, "count_before", c->nr_before);
	jsonw_uint(j, "count_after", c->nr_after);
	jsonw_object_end(j);
}

void trend_json(struct jsonw *j, const struct trend *t)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "list-trend");
	jsonw_string(j, "name", t->name);
	jsonw_string(j, "metric", t->key);
	jsonw_uint(j, "count", t->nr_values);
	jsonw_uint(j, "left_out", t->nr_left);
	jsonw_bool(j, "enough", t->is_enough);
	if (t->is_enough)
		jsonw_double(j, "p", t->p);
	jsonw_array(j, "changes");
	for (size_t i = 0; i < t->nr_changes; i++)
		change_json(j, t, &t->changes[i]);
	jsonw_array_end(j);
	jsonw_array(j, "revisions");
	for (size_t i = 0; i < t->nr; i++)
		revision_json(j, t, i);
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
}
