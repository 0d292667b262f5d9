// SPDX-License-Identifier: BSD-2-Clause
#include "study/values.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Keys whose values are in the list of runs: integers, -1 if unknown. */
static const struct {
	const char *key;
	size_t offset;
	double unit;
} listed[] = {
	{ "wall_seconds", offsetof(struct stored_run, wall_ns), NSEC_PER_SEC },
	{ "cpu_seconds", offsetof(struct stored_run, cpu_ns), NSEC_PER_SEC },
	{ "memory_needed_bytes", offsetof(struct stored_run, needed), 1 },
	{ "rss_peak_bytes", offsetof(struct stored_run, rss_peak_bytes), 1 },
	{ "processes_total", offsetof(struct stored_run, processes), 1 },
	{ "exit_code", offsetof(struct stored_run, exit_code), 1 },
	{ "signal", offsetof(struct stored_run, signal), 1 },
};
#define NR_LISTED (sizeof(listed) / sizeof(*listed))

static bool many_metrics_have(const struct many_metrics *m, size_t key)
{
	for (size_t i = 0; i < m->nr; i++)
		if (m->key[i] == key)
			return true;
	return false;
}

int many_metrics_parse(struct many_metrics *m, const char *text, const char **bad, size_t *length)
{
	struct many_metrics parsed = { 0 };
	size_t key;

	for (const char *p = text;; p++) {
		size_t n = strcspn(p, ",");
		int err = run_key_find(p, n, &key) ? -ENOENT : 0;

		if (!err && many_metrics_have(&parsed, key))
			err = -EEXIST;
		else if (!err && parsed.nr == MOST_METRICS)
			err = -E2BIG;
		if (err) {
			*bad = p;
			*length = n;
			return err;
		}
		parsed.key[parsed.nr++] = key;
		p += n;
		if (!*p)
			break;
	}
	*m = parsed;
	return 0;
}

void many_metrics_put(struct many_metrics *m, const char *key)
{
	if (!run_key_find(key, strlen(key), &m->key[m->nr]))
		m->nr++;
}

static size_t listed_find(size_t key)
{
	size_t i = 0;

	while (i < NR_LISTED && strcmp(listed[i].key, run_key(key).name) != 0)
		i++;
	return i;
}

/* Returns NAN for a run that has not ended. */
static double listed_value(size_t i, const struct stored_run *r)
{
	int64_t number = run_needed_bytes(r);

	if (listed[i].offset != offsetof(struct stored_run, needed))
		memcpy(&number, (const char *)r + listed[i].offset, sizeof(number));
	return number < 0 || r->state != RUN_FINISHED ? NAN : (double)number / listed[i].unit;
}

int many_values_open(struct many_values *v, const struct many_metrics *m,
		     const struct stored_runs *all)
{
	*v = (struct many_values){ .metrics = *m, .nr = all->nr };
	v->value = memory_calloc(m->nr * all->nr + 1, sizeof(*v->value));
	if (!v->value)
		return -ENOMEM;
	for (size_t k = 0; k < m->nr; k++) {
		size_t at = listed_find(m->key[k]);

		for (size_t i = 0; i < all->nr; i++)
			v->value[k * all->nr + i] =
				at < NR_LISTED ? listed_value(at, &all->runs[i]) : NAN;
	}
	return 0;
}

void many_values_done(struct many_values *v)
{
	free(v->value);
	*v = (struct many_values){ 0 };
}

bool many_values_need_summaries(const struct many_values *v)
{
	for (size_t k = 0; k < v->metrics.nr; k++)
		if (listed_find(v->metrics.key[k]) == NR_LISTED)
			return true;
	return false;
}

/* Returns NAN for negative or absurdly large numbers, which would spoil the arithmetic. */
static double summary_value(double number)
{
	if (!(number >= 0 && number < 1e19))
		return NAN;
	return number < 1e-12 ? 0 : number;
}

void many_values_take(void *values, size_t at, const char *summary)
{
	struct many_values *v = values;
	const char *key[MOST_METRICS];
	size_t left = 0;
	struct line_walk w;

	for (size_t k = 0; k < v->metrics.nr; k++) {
		bool is_listed = listed_find(v->metrics.key[k]) < NR_LISTED;

		key[k] = is_listed ? NULL : run_key(v->metrics.key[k]).name;
		left += key[k] != NULL;
	}
	line_walk_begin(&w, summary);
	while (left && line_walk_next(&w))
		for (size_t k = 0; k < v->metrics.nr; k++) {
			if (!key[k] || !line_walk_is_at(&w, key[k]))
				continue;
			v->value[k * v->nr + at] = summary_value(line_walk_number(&w));
			key[k] = NULL;
			left--;
		}
}

size_t many_values_known(const struct many_values *v, size_t metric, double *to)
{
	size_t known = 0;

	for (size_t i = 0; i < v->nr; i++)
		if (!isnan(many_value(v, metric, i)))
			to[known++] = many_value(v, metric, i);
	return known;
}

#define BLANKS " \t\r\n"

void line_walk_begin(struct line_walk *w, const char *line)
{
	*w = (struct line_walk){ .at = line + strspn(line, BLANKS) };
	w->at = *w->at == '{' ? w->at + 1 : "";
}

/* Returns the end of the string at @p; NULL if it is not closed. */
static const char *walk_string_end(const char *p)
{
	for (p++; *(p += strcspn(p, "\"\\")) == '\\'; p += 2)
		if (!p[1])
			return NULL;
	return *p ? p + 1 : NULL;
}

/* Returns the end of the object or list at @p; NULL if it is not closed. */
static const char *walk_nest_end(const char *p)
{
	size_t depth = 0;

	while (p && *(p += strcspn(p, "\"{}[]"))) {
		if (*p == '"') {
			p = walk_string_end(p);
			continue;
		}
		depth += *p == '{' || *p == '[' ? 1 : (size_t)-1;
		p++;
		if (!depth)
			return p;
	}
	return NULL;
}

static const char *walk_value_end(const char *p)
{
	if (*p == '"')
		return walk_string_end(p);
	return *p == '{' || *p == '[' ? walk_nest_end(p) : p + strcspn(p, ",}]" BLANKS);
}

bool line_walk_next(struct line_walk *w)
{
	const char *p = w->at + strspn(w->at, BLANKS ","), *end;

	if (*p != '"' || !(end = walk_string_end(p)))
		return false;
	w->key = p + 1;
	w->key_length = (size_t)(end - p) - 2;
	p = end + strspn(end, BLANKS);
	if (*p != ':')
		return false;
	p++;
	w->value = p + strspn(p, BLANKS);
	w->at = walk_value_end(w->value);
	if (!w->at)
		return false;
	w->value_length = (size_t)(w->at - w->value);
	return w->value_length > 0;
}

bool line_walk_is_at(const struct line_walk *w, const char *key)
{
	return text_is(w->key, w->key_length, key);
}

double line_walk_number(const struct line_walk *w)
{
	double number;

	if (!isdigit((unsigned char)*w->value) && *w->value != '-')
		return NAN;
	number = strtod(w->value, NULL);
	return isfinite(number) ? number : NAN;
}

const char *run_group_name(const struct stored_run *r)
{
	return r->name ? r->name : r->command ? r->command : "";
}

/* A command and a name with the same text are different groups. */
static int grouped_runs_by_group(const struct stored_run *a, const struct stored_run *b)
{
	int c = !a->name - !b->name;

	return c ? c : strcmp(run_group_name(a), run_group_name(b));
}

static int grouped_runs_compare(const void *x, const void *y, void *context)
{
	const struct stored_runs *all = context;
	const struct stored_run *a = &all->runs[*(const size_t *)x];
	const struct stored_run *b = &all->runs[*(const size_t *)y];
	int c = grouped_runs_by_group(a, b);

	if (!c)
		c = (a->start_epoch_ns > b->start_epoch_ns) -
		    (a->start_epoch_ns < b->start_epoch_ns);
	return c ? c : (a->id > b->id) - (a->id < b->id);
}

int grouped_runs_make(struct grouped_runs *o, const struct stored_runs *all)
{
	*o = (struct grouped_runs){ .at = memory_calloc(all->nr + 1, sizeof(*o->at)) };
	if (!o->at)
		return -ENOMEM;
	for (size_t i = 0; i < all->nr; i++)
		if (all->runs[i].state == RUN_FINISHED)
			o->at[o->nr++] = i;
	qsort_r(o->at, o->nr, sizeof(*o->at), grouped_runs_compare, (void *)all);
	return 0;
}

void grouped_runs_done(struct grouped_runs *o)
{
	free(o->at);
	*o = (struct grouped_runs){ 0 };
}

size_t grouped_runs_group_end(const struct grouped_runs *o, const struct stored_runs *all,
			      size_t from)
{
	size_t end = from + 1;

	while (end < o->nr &&
	       !grouped_runs_by_group(&all->runs[o->at[from]], &all->runs[o->at[end]]))
		end++;
	return end;
}
