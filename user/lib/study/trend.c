// SPDX-License-Identifier: BSD-2-Clause
#include "study/trend.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "study/stats.h"
#include "study/values.h"
#include "text/format.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run that succeeded and has revision and value. */
struct trend_run {
	const char *revision;
	uint64_t start_ns;
	uint64_t first_ns; /* start of the first run of its revision */
	double value;
};

static int times_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

static int trend_by_revision(const void *x, const void *y)
{
	const struct trend_run *a = x, *b = y;
	int c = strcmp(a->revision, b->revision);

	return c ? c : times_compare(a->start_ns, b->start_ns);
}

static int trend_by_first(const void *x, const void *y)
{
	const struct trend_run *a = x, *b = y;
	int c = times_compare(a->first_ns, b->first_ns);

	return c ? c : trend_by_revision(x, y);
}

/* Sorts runs by revision, and revisions by their first run. */
static void trend_order(struct trend_run *runs, size_t nr)
{
	qsort(runs, nr, sizeof(*runs), trend_by_revision);
	for (size_t i = 0; i < nr; i++)
		runs[i].first_ns = i && !strcmp(runs[i].revision, runs[i - 1].revision)
					   ? runs[i - 1].first_ns
					   : runs[i].start_ns;
	qsort(runs, nr, sizeof(*runs), trend_by_first);
}

static size_t trend_choose(const struct many_values *v, const struct run_revisions *revisions,
			   const struct stored_runs *all, const struct grouped_runs *ended,
			   struct trend_run *runs)
{
	size_t nr = 0;

	for (size_t i = 0; i < ended->nr; i++) {
		const struct stored_run *r = &all->runs[ended->at[i]];
		double value = many_value(v, 0, ended->at[i]);

		if (isnan(value) || stored_run_is(r, ONLY_FAILED) || !*revisions->of[ended->at[i]])
			continue;
		runs[nr++] = (struct trend_run){ .revision = revisions->of[ended->at[i]],
						 .start_ns = r->start_epoch_ns,
						 .value = value };
	}
	return nr;
}

/* Returns the median without sorting @values. */
static double values_median(const double *values, size_t n, double *scratch)
{
	memcpy(scratch, values, n * sizeof(*values));
	stats_sort(scratch, n);
	return stats_quantile(scratch, n, 0.5);
}

static void trend_fill(struct trend *t, const struct trend_run *runs, size_t nr, double *scratch)
{
	for (size_t i = 0; i < nr; i++) {
		t->values[i] = runs[i].value;
		if (!i || strcmp(runs[i].revision, runs[i - 1].revision) != 0)
			t->list[t->nr++] = (struct revision){ .id = runs[i].revision,
							      .first_ns = runs[i].start_ns,
							      .from = i };
		t->list[t->nr - 1].nr++;
	}
	t->nr_values = nr;
	for (size_t i = 0; i < t->nr; i++)
		t->list[i].median =
			values_median(t->values + t->list[i].from, t->list[i].nr, scratch);
}

/* Sets the medians before and after each change, up to the neighbouring changes. */
static void trend_measure(struct trend *t, const struct changes *c, double *scratch)
{
	size_t from = 0, at, end;

	for (size_t i = 0; i < c->nr; i++, from = at) {
		struct trend_change *change = &t->changes[t->nr_changes++];

		change->revision = c->list[i].place + 1;
		change->p = c->list[i].p;
		at = t->list[change->revision].from;
		end = i + 1 < c->nr ? t->list[c->list[i + 1].place + 1].from : t->nr_values;
		change->nr_before = at - from;
		change->nr_after = end - at;
		change->before = values_median(t->values + from, at - from, scratch);
		change->after = values_median(t->values + at, end - at, scratch);
	}
}

/* The candidates are the first runs of all revisions except the first. */
static int trend_find(struct trend *t, double *scratch)
{
	size_t *places = memory_calloc(t->nr + 1, sizeof(*places));
	struct changes c;
	int err;

	if (!places)
		return -ENOMEM;
	for (size_t i = 1; i < t->nr; i++)
		places[i - 1] = t->list[i].from;
	err = changes_find(&c, t->values, t->nr_values, places, t->nr ? t->nr - 1 : 0);
	free(places);
	if (err)
		return err;
	t->is_enough = c.is_enough;
	t->p = c.p;
	trend_measure(t, &c, scratch);
	return 0;
}

static int trend_compute(struct trend *t, const struct many_values *v,
			 const struct run_revisions *revisions, const struct stored_runs *all,
			 const struct grouped_runs *ended)
{
	struct trend_run *runs = memory_calloc(ended->nr + 1, sizeof(*runs));
	double *scratch = memory_calloc(ended->nr + 1, sizeof(*scratch));
	int err = -ENOMEM;
	size_t nr;

	t->list = memory_calloc(ended->nr + 1, sizeof(*t->list));
	t->values = memory_calloc(ended->nr + 1, sizeof(*t->values));
	if (runs && scratch && t->list && t->values) {
		nr = trend_choose(v, revisions, all, ended, runs);
		t->nr_left = all->nr - nr;
		trend_order(runs, nr);
		trend_fill(t, runs, nr, scratch);
		err = trend_find(t, scratch);
	}
	free(scratch);
	free(runs);
	return err;
}

int trend_make(struct trend *t, const struct many_values *v, const struct run_revisions *revisions,
	       const struct stored_runs *all)
{
	const struct run_key key = run_key(v->metrics.key[0]);
	struct grouped_runs ended;
	int err = grouped_runs_make(&ended, all);

	*t = (struct trend){ .key = key.name, .unit = key.unit, .p = 1 };
	if (!err && ended.nr) {
		t->name = run_group_name(&all->runs[ended.at[0]]);
		if (grouped_runs_group_end(&ended, all, 0) < ended.nr)
			err = -EMLINK;
	}
	if (!err)
		err = trend_compute(t, v, revisions, all, &ended);
	grouped_runs_done(&ended);
	return err;
}

void trend_done(struct trend *t)
{
	free(t->list);
	free(t->values);
	*t = (struct trend){ 0 };
}

#define SHORT_REVISION 10
#define INDENT 4
#define SEEN 0.0005 /* smaller changes of the median print as 0.0 % */
#define NARROW 70   /* columns; narrower tables omit times */

/* Words for sentences like "it uses 12 % more CPU time". */
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
		buffer_puts(t, "no longer 0");
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
		buffer_printf(t, "%s has a different spread around the same median", key);
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
			 "; %s more failed, ha%s not ended, or ha%s no revision or no value",
			 format_count(a, t->nr_left), t->nr_left == 1 ? "s" : "ve",
			 t->nr_left == 1 ? "s" : "ve");
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
	jsonw_double(j, "relative", change_relative(before, after)); /* null for a change from 0 */
}

static void revision_json(struct jsonw *j, const struct trend *t, size_t i)
{
	const struct revision *r = &t->list[i];

	jsonw_object(j, NULL);
	jsonw_string(j, "revision", r->id);
	jsonw_decimal(j, "first_time", r->first_ns / 1000, 6);
	jsonw_uint(j, "count", r->nr);
	jsonw_double(j, "median", number_drop_noise(t->unit, r->median));
	if (i)
		trend_put_relative(j, t->list[i - 1].median, r->median);
	jsonw_object_end(j);
}

static void change_json(struct jsonw *j, const struct trend *t, const struct trend_change *c)
{
	jsonw_object(j, NULL);
	jsonw_string(j, "since", t->list[c->revision].id);
	jsonw_double(j, "p", c->p);
	jsonw_double(j, "before", number_drop_noise(t->unit, c->before));
	jsonw_double(j, "after", number_drop_noise(t->unit, c->after));
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

int run_revisions_open(struct run_revisions *r, size_t nr)
{
	r->of = memory_calloc(nr + 1, sizeof(*r->of));
	return r->of ? 0 : -ENOMEM;
}

void run_revisions_done(struct run_revisions *r)
{
	free(r->of);
	*r = (struct run_revisions){ 0 };
}

/* Advances to the member @key. Returns false if there is none. */
static bool line_walk_find(struct line_walk *w, const char *line, const char *key)
{
	for (line_walk_begin(w, line); line_walk_next(w);)
		if (line_walk_is_at(w, key))
			return true;
	return false;
}

void run_revisions_take(void *revisions, size_t at, const char *meta)
{
	char *to = ((struct run_revisions *)revisions)->of[at];
	struct line_walk w;
	size_t n = 0;

	if (!line_walk_find(&w, meta, "git") || !line_walk_find(&w, w.value, "revision") ||
	    *w.value != '"')
		return;
	while (n + 1 < REVISION_BYTES && isxdigit((unsigned char)w.value[1 + n]))
		n++;
	if (w.value[1 + n] == '"') /* a recorded revision has only digits */
		memcpy(to, w.value + 1, n);
}
