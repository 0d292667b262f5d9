// SPDX-License-Identifier: BSD-2-Clause
#include "study/trend.h"

#include "study/stats.h"
#include "study/run_groups.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A run that counts. */
struct trend_run {
	const char *revision;
	uint64_t start_ns;
	uint64_t first_ns; /* of the revision's first run */
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

/* Those of a revision next to each other, revisions in the order of their first runs. */
static void trend_order(struct trend_run *runs, size_t nr)
{
	qsort(runs, nr, sizeof(*runs), trend_by_revision);
	for (size_t i = 0; i < nr; i++)
		runs[i].first_ns = i && !strcmp(runs[i].revision, runs[i - 1].revision)
					   ? runs[i - 1].first_ns
					   : runs[i].start_ns;
	qsort(runs, nr, sizeof(*runs), trend_by_first);
}

/* The runs that count, into @runs. */
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

/* The median of values that stay in their order. */
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

/* The size of each change: the medians from the change before it up to the next. */
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

/* A change may be at the first run of each revision but the first. */
static int trend_find(struct trend *t, double *scratch)
{
	size_t *places = calloc(t->nr + 1, sizeof(*places));
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
	struct trend_run *runs = calloc(ended->nr + 1, sizeof(*runs));
	double *scratch = calloc(ended->nr + 1, sizeof(*scratch));
	int err = -ENOMEM;
	size_t nr;

	t->list = calloc(ended->nr + 1, sizeof(*t->list));
	t->values = calloc(ended->nr + 1, sizeof(*t->values));
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
	const struct compare_key key = compare_key(v->metrics.key[0]);
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
