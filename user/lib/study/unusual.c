// SPDX-License-Identifier: BSD-2-Clause
#include "study/unusual.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "base/text.h"
#include "study/stats.h"
#include "study/values.h"
#include "text/format.h"
#include "text/runs_text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LEAST_SHARE 0.1 /* share of the median; smaller differences never count */

static const double least_amount[NR_UNITS] = {
	[UNIT_NS] = 0.01,
	[UNIT_BYTES] = 1 << 20,
};

struct judged {
	const size_t *at; /* indexes of its runs */
	size_t nr, failed;
	struct robust usual[MOST_METRICS]; /* nr == 0: too few have the value */
};

/* Measures what is usual in the group. */
static void group_measure(struct judged *g, struct unusual *u, double *scratch)
{
	for (size_t i = 0; i < g->nr; i++)
		g->failed += stored_run_is(&u->all->runs[g->at[i]], ONLY_FAILED);
	for (size_t k = 0; k < u->values->metrics.nr; k++) {
		size_t n = 0;

		for (size_t i = 0; i < g->nr; i++) {
			double value = many_value(u->values, k, g->at[i]);

			if (!isnan(value) && !stored_run_is(&u->all->runs[g->at[i]], ONLY_FAILED))
				scratch[n++] = value;
		}
		if (n >= LEAST_FEW)
			robust_make(&g->usual[k], scratch, n);
		else if (g->nr - g->failed >= LEAST_FEW)
			u->lacking[k]++;
	}
}

static bool value_is_off(const struct unusual *u, const struct robust *usual, size_t metric,
			 double value, double z)
{
	double distance = fabs(value - usual->median);
	enum metric_unit unit = run_key(u->values->metrics.key[metric]).unit;

	return fabs(z) >= u->threshold && distance >= LEAST_SHARE * fabs(usual->median) &&
	       distance >= least_amount[unit];
}

static int off_farthest_first(const void *x, const void *y)
{
	double a = fabs(((const struct off_value *)x)->z);
	double b = fabs(((const struct off_value *)y)->z);

	return (a < b) - (a > b);
}

static size_t run_measure(const struct unusual *u, const struct judged *g, size_t at, bool failed,
			  struct off_value off[MOST_METRICS])
{
	size_t nr = 0;

	for (size_t k = 0; k < u->values->metrics.nr; k++) {
		double value = many_value(u->values, k, at), z;

		if (isnan(value) || !g->usual[k].nr)
			continue;
		z = robust_z(&g->usual[k], value);
		if (value_is_off(u, &g->usual[k], k, value, z) && (z > 0 || !failed))
			off[nr++] = (struct off_value){ k, value, z, g->usual[k] };
	}
	qsort(off, nr, sizeof(*off), off_farthest_first);
	return nr;
}

static int unusual_append(struct unusual *u, const struct unusual_run *run)
{
	if (u->nr == u->room) {
		size_t room = u->room ? 2 * u->room : 64;
		struct unusual_run *list = memory_reallocarray(u->list, room, sizeof(*list));

		if (!list)
			return -ENOMEM;
		u->list = list;
		u->room = room;
	}
	u->list[u->nr++] = *run;
	return 0;
}

static int run_judge(struct unusual *u, const struct judged *g, size_t at)
{
	bool failed = stored_run_is(&u->all->runs[at], ONLY_FAILED);
	struct off_value off[MOST_METRICS];
	struct unusual_run run = {
		.at = at,
		.has_failed = failed,
		.failure_is_unusual = failed && 2 * g->failed < g->nr,
		.group_runs = g->nr,
		.group_failed = g->failed,
		.nr_off = run_measure(u, g, at, failed, off),
	};
	int err;

	if (!run.nr_off && !failed)
		return 0;
	run.score =
		fmax(run.nr_off ? fabs(off[0].z) : 0, run.failure_is_unusual ? u->threshold : 0);
	run.off = memory_calloc(run.nr_off + 1, sizeof(*run.off));
	if (!run.off)
		return -ENOMEM;
	for (size_t i = 0; i < run.nr_off; i++)
		run.off[i] = off[i];
	err = unusual_append(u, &run);
	if (err)
		free(run.off);
	return err;
}

static int group_judge(struct unusual *u, const size_t *at, size_t nr, double *scratch)
{
	struct judged g = { .at = at, .nr = nr };
	bool has_few;
	int err = 0;

	group_measure(&g, u, scratch);
	has_few = nr - g.failed < LEAST_RUNS;
	*(has_few ? &u->few : &u->judged) += nr;
	*(has_few ? &u->few_groups : &u->groups) += 1;
	for (size_t i = 0; !err && i < nr; i++)
		err = run_judge(u, &g, at[i]);
	return err;
}

static int unusual_order(const void *x, const void *y, void *context)
{
	const struct stored_runs *all = context;
	const struct unusual_run *a = x, *b = y;
	uint64_t began = all->runs[a->at].start_epoch_ns, other = all->runs[b->at].start_epoch_ns;

	if (a->score != b->score)
		return a->score < b->score ? 1 : -1;
	return (began < other) - (began > other);
}

int unusual_find(struct unusual *u, const struct many_values *v, const struct stored_runs *all,
		 double threshold)
{
	double *scratch = memory_calloc(all->nr + 1, sizeof(*scratch));
	struct grouped_runs order;
	int err = grouped_runs_make(&order, all);

	*u = (struct unusual){ .values = v, .all = all, .threshold = threshold };
	if (!scratch)
		err = -ENOMEM;
	u->going_on = all->nr - order.nr;
	for (size_t i = 0, end; !err && i < order.nr; i = end) {
		end = grouped_runs_group_end(&order, all, i);
		err = group_judge(u, order.at + i, end - i, scratch);
	}
	if (!err && u->nr)
		qsort_r(u->list, u->nr, sizeof(*u->list), unusual_order, (void *)all);
	grouped_runs_done(&order);
	free(scratch);
	return err;
}

void unusual_done(struct unusual *u)
{
	for (size_t i = 0; i < u->nr; i++)
		free(u->list[i].off);
	free(u->list);
	*u = (struct unusual){ 0 };
}

#define SIGMA_OF_MEDIAN_DEVIATION 1.4826 /* 1 / the 0.75 quantile of the normal distribution */
#define SIGMA_OF_MEAN_DEVIATION 1.2533   /* the square root of pi / 2 */
#define SIGMAS_BETWEEN_TAILS 2.5631      /* from the 10th to the 90th percentile */
#define SKEWED 0.1

static bool values_are_skewed(const double *sorted, size_t n)
{
	double low = stats_quantile(sorted, n, 0.1), high = stats_quantile(sorted, n, 0.9);
	double median = stats_quantile(sorted, n, 0.5);

	return high + low - 2 * median > SKEWED * (high - low);
}

/* Returns the constant to add before the logarithm: 0 if there are no zeros. */
static double robust_start(const double *sorted, size_t n)
{
	size_t zeros = 0;

	while (zeros < n && sorted[zeros] == 0)
		zeros++;
	return zeros && zeros < n ? stats_quantile(sorted + zeros, n - zeros, 0.5) : 0;
}

/* Computes the scale from @axis: sorted values or logarithms, which it changes. */
static double robust_scale(double *axis, size_t n, double centre)
{
	double tails = stats_quantile(axis, n, 0.9) - stats_quantile(axis, n, 0.1);
	double sum = 0, scale;

	for (size_t i = 0; i < n; i++) {
		axis[i] = fabs(axis[i] - centre);
		sum += axis[i];
	}
	stats_sort(axis, n);
	scale = fmax(SIGMA_OF_MEDIAN_DEVIATION * stats_quantile(axis, n, 0.5),
		     tails / SIGMAS_BETWEEN_TAILS);
	return scale > 0 ? scale : SIGMA_OF_MEAN_DEVIATION * sum / (double)n;
}

void robust_make(struct robust *r, double *values, size_t n)
{
	stats_sort(values, n);
	*r = (struct robust){ .nr = n, .median = stats_quantile(values, n, 0.5) };
	r->is_log = values[0] >= 0 && values_are_skewed(values, n);
	if (r->is_log) {
		r->start = robust_start(values, n);
		for (size_t i = 0; i < n; i++)
			values[i] = log(values[i] + r->start);
	}
	r->centre = stats_quantile(values, n, 0.5);
	r->scale = robust_scale(values, n, r->centre);
}

double robust_z(const struct robust *r, double value)
{
	double distance;

	if (value == r->median)
		return 0;
	distance = (r->is_log ? log(value + r->start) : value) - r->centre;
	if (r->scale > 0)
		return distance / r->scale;
	return distance > 0 ? INFINITY : -INFINITY;
}

#define INDENT 4
#define NAME_CHARACTERS 40

static const char *plural_ending(size_t n)
{
	return n == 1 ? "" : "s";
}

static void factor_put(struct buffer *t, double factor)
{
	char count[NUMBER_BYTES];

	if (factor < 100)
		buffer_printf(t, ", x %.3g", factor);
	else
		buffer_printf(t, ", x %s", number_format(count, UNIT_COUNT, round(factor)));
}

static void off_put(struct buffer *t, const struct unusual *u, const struct off_value *off)
{
	const struct run_key key = run_key(u->values->metrics.key[off->metric]);
	char value[NUMBER_BYTES], median[NUMBER_BYTES];

	buffer_printf(t, "%s %s against %s", key.name, number_format(value, key.unit, off->value),
		      number_format(median, key.unit, off->usual.median));
	if (off->usual.median > 0)
		factor_put(t, off->value / off->usual.median);
	if (isinf(off->z))
		buffer_puts(t, " (all others are the same");
	else
		buffer_printf(t, " (z %+.1f", off->z);
	if (off->usual.nr < LEAST_RUNS)
		buffer_printf(t, ", of only %zu runs", off->usual.nr);
	buffer_puts(t, ")");
}

static void name_put(struct buffer *t, const char *name)
{
	const char *end = name;
	bool is_control;

	for (size_t n = 0; *end && n < NAME_CHARACTERS; n++)
		end += text_character_bytes(end, &is_control);
	buffer_printf(t, "%.*s%s", (int)(end - name), name, *end ? "..." : "");
}

static void failure_put(struct buffer *t, const struct unusual *u, const struct unusual_run *run)
{
	const struct stored_run *r = &u->all->runs[run->at];

	if (r->signal > 0)
		buffer_printf(t, "killed by signal %lld", (long long)r->signal);
	else
		buffer_printf(t, "ended with %lld", (long long)r->exit_code);
	buffer_printf(t, ", %zu of %zu failed", run->group_failed, run->group_runs);
}

static void unusual_put_line(struct buffer *t, const struct unusual *u,
			     const struct unusual_run *run, size_t id_width,
			     const char *const *sources)
{
	const struct stored_run *r = &u->all->runs[run->at];
	char ref[RUN_CELL_BYTES], moment[MOMENT_BYTES];

	buffer_printf(t, "%*s  %s  ", (int)id_width, run_ref_text(ref, r, sources),
		      format_moment(moment, r->start_epoch_ns, false));
	name_put(t, run_group_name(r));
	buffer_puts(t, ": ");
	if (run->has_failed)
		failure_put(t, u, run);
	for (size_t i = 0; i < run->nr_off; i++) {
		buffer_puts(t, i || run->has_failed ? "; " : "");
		off_put(t, u, &run->off[i]);
	}
	buffer_put(t, "", 1);
	if (!t->failed)
		text_disarm(t->text);
}

static void unusual_put_sums(FILE *f, const struct unusual *u, size_t width)
{
	char text[4000], a[FORMAT_BYTES], b[FORMAT_BYTES]; /* enough for all metrics */
	size_t runs = u->judged + u->few, groups = u->groups + u->few_groups, n = 0;

	if (!runs)
		n += (size_t)snprintf(text, sizeof(text), "no run has ended");
	else
		n += (size_t)snprintf(
			text, sizeof(text), "%s of %s run%s of %zu name%s failed or %s unusual",
			format_count(a, u->nr), format_count(b, runs), plural_ending(runs), groups,
			plural_ending(groups), u->nr == 1 ? "is" : "are");
	if (u->few)
		n += (size_t)snprintf(
			text + n, sizeof(text) - n,
			"; %s run%s of %zu name%s %s judged by fewer than %d successful runs, "
			"below %d by failure alone",
			format_count(a, u->few), plural_ending(u->few), u->few_groups,
			plural_ending(u->few_groups), u->few == 1 ? "is" : "are", LEAST_RUNS,
			LEAST_FEW);
	for (size_t k = 0; k < u->values->metrics.nr; k++)
		if (u->lacking[k])
			n += (size_t)snprintf(text + n, sizeof(text) - n,
					      "; of %zu name%s too few runs have %s", u->lacking[k],
					      plural_ending(u->lacking[k]),
					      run_key(u->values->metrics.key[k]).name);
	if (u->going_on)
		snprintf(text + n, sizeof(text) - n, "; %s ha%s not ended",
			 format_count(a, u->going_on), u->going_on == 1 ? "s" : "ve");
	format_folded(f, text, width, INDENT);
}

int unusual_text(FILE *f, const struct unusual *u, size_t limit, const char *const *sources,
		 size_t width)
{
	size_t shown = limit && limit < u->nr ? limit : u->nr, id_width = 0;
	struct buffer line = { 0 };
	char ref[RUN_CELL_BYTES];
	int err;

	unusual_put_sums(f, u, width);
	for (size_t i = 0; i < shown; i++) {
		size_t n = strlen(run_ref_text(ref, &u->all->runs[u->list[i].at], sources));

		id_width = n > id_width ? n : id_width;
	}
	for (size_t i = 0; !line.failed && i < shown; i++) {
		line.used = 0;
		unusual_put_line(&line, u, &u->list[i], id_width, sources);
		if (!line.failed)
			format_folded(f, line.text, width, id_width + 2);
	}
	err = line.failed ? -ENOMEM : 0;
	buffer_done(&line);
	if (shown < u->nr)
		fprintf(f, "%zu of %zu; --limit 0 shows all\n", shown, u->nr);
	return err;
}

static void off_json(struct jsonw *j, const struct unusual *u, const struct off_value *off)
{
	const struct run_key key = run_key(u->values->metrics.key[off->metric]);

	jsonw_object(j, NULL);
	jsonw_string(j, "metric", key.name);
	jsonw_double(j, "value", off->value);
	jsonw_double(j, "median", number_drop_noise(key.unit, off->usual.median));
	jsonw_uint(j, "of", off->usual.nr);
	jsonw_string(j, "scale", off->usual.is_log ? "log" : "linear");
	jsonw_double(j, "z", off->z); /* null if all others are the same */
	jsonw_object_end(j);
}

static void unusual_run_json(struct jsonw *j, const struct unusual *u,
			     const struct unusual_run *run, const char *const *sources)
{
	const struct stored_run *r = &u->all->runs[run->at];
	char ref[RUN_CELL_BYTES];

	jsonw_object(j, NULL);
	jsonw_int(j, "id", r->id);
	jsonw_string(j, "ref", run_ref_text(ref, r, sources));
	jsonw_string(j, "run", r->uuid);
	jsonw_string(j, "name", r->name);
	jsonw_string(j, "command", r->command);
	jsonw_decimal(j, "start_time", r->start_epoch_ns / 1000, 6);
	jsonw_bool(j, "failed", run->has_failed);
	jsonw_bool(j, "failure_is_unusual", run->failure_is_unusual);
	if (r->exit_code >= 0)
		jsonw_int(j, "exit_code", r->exit_code);
	if (r->signal >= 0)
		jsonw_int(j, "signal", r->signal);
	jsonw_uint(j, "group_runs", run->group_runs);
	jsonw_uint(j, "group_failed", run->group_failed);
	jsonw_array(j, "off");
	for (size_t i = 0; i < run->nr_off; i++)
		off_json(j, u, &run->off[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

void unusual_json(struct jsonw *j, const struct unusual *u, size_t limit,
		  const char *const *sources)
{
	jsonw_object(j, NULL);
	jsonw_schema(j, "list-unusual");
	jsonw_double(j, "threshold", u->threshold);
	jsonw_uint(j, "unusual", u->nr);
	jsonw_uint(j, "judged", u->judged);
	jsonw_uint(j, "groups", u->groups);
	jsonw_uint(j, "least_runs", LEAST_RUNS);
	jsonw_uint(j, "too_few_runs", u->few);
	jsonw_uint(j, "too_few_groups", u->few_groups);
	jsonw_uint(j, "not_ended", u->going_on);
	jsonw_array(j, "runs");
	for (size_t i = 0; i < u->nr && (!limit || i < limit); i++)
		unusual_run_json(j, u, &u->list[i], sources);
	jsonw_array_end(j);
	jsonw_object_end(j);
	jsonw_newline(j);
}
