// SPDX-License-Identifier: BSD-2-Clause
/* The spans that are shown, as the page's data. All their texts share TEXTS_BYTES. */
#include "page/page_spans.h"

#include "page/excerpt.h"

#define TEXTS_BYTES (1UL << 18) /* of all of them together, in the page */
#define TEXT_SHOWN 200          /* of one of them */

/* Negative where a span of an attached process began before the run. */
static void span_put_time(struct jsonw *j, uint64_t epoch_ns, uint64_t start_ns)
{
	if (!epoch_ns)
		jsonw_null(j, NULL);
	else if (epoch_ns >= start_ns)
		jsonw_decimal(j, NULL, (epoch_ns - start_ns) / 1000, 6);
	else
		jsonw_int(j, NULL, -(int64_t)((start_ns - epoch_ns) / 1000000000));
}

static void span_put_number(struct jsonw *j, bool is_known, uint64_t v)
{
	if (is_known)
		jsonw_uint(j, NULL, v);
	else
		jsonw_null(j, NULL);
}

static void span_totals_put(struct jsonw *j, const struct span_totals *t)
{
	jsonw_decimal(j, NULL, t->wall_ns / 1000, 6);
	jsonw_uint(j, NULL, t->processes);
	span_put_number(j, t->has_peak, t->peak_bytes);
	span_put_number(j, t->has_upper, t->upper_bytes);
	for (size_t i = 0; i < SPAN_METRICS; i++) {
		if (t->has[i])
			jsonw_decimal(j, NULL, t->value[i], metric_decimals(span_metrics[i]));
		else
			jsonw_null(j, NULL);
	}
}

/* The fields of @own, which end with NULL, and those of span_totals_put(). */
static void span_fields_put(struct jsonw *j, const char *key, const char *const *own)
{
	jsonw_array(j, key);
	for (; *own; own++)
		jsonw_string(j, NULL, *own);
	jsonw_string(j, NULL, "wall_seconds");
	jsonw_string(j, NULL, "processes_total");
	jsonw_string(j, NULL, "rss_peak_bytes");
	jsonw_string(j, NULL, "rss_peak_upper_bytes");
	for (size_t i = 0; i < SPAN_METRICS; i++)
		jsonw_string(j, NULL, metric_get(span_metrics[i])->key);
	jsonw_array_end(j);
}

/* Of a name with one span the text only: its row has the rest. */
static void span_put_name(struct jsonw *j, const struct span_name *n, uint64_t start_ns,
			  size_t limit)
{
	if (n->spans == 1) {
		excerpt_put(j, n->text, limit, CUT_END);
		return;
	}
	jsonw_array(j, NULL);
	excerpt_put(j, n->text, limit, CUT_END);
	jsonw_uint(j, NULL, n->spans);
	jsonw_uint(j, NULL, n->failed);
	jsonw_uint(j, NULL, n->broken);
	jsonw_uint(j, NULL, n->open);
	span_put_time(j, n->first_epoch_ns, start_ns);
	span_put_time(j, n->last_epoch_ns, start_ns);
	jsonw_decimal(j, NULL, n->longest_ns / 1000, 6);
	span_totals_put(j, &n->used);
	jsonw_array_end(j);
}

static void span_put_row(struct jsonw *j, const struct report_span *s, size_t name,
			 uint64_t start_ns, size_t limit)
{
	jsonw_array(j, NULL);
	jsonw_uint(j, NULL, name);
	jsonw_uint(j, NULL, s->id);
	jsonw_uint(j, NULL, s->parent);
	jsonw_int(j, NULL, s->pid);
	if (s->tags)
		excerpt_put(j, s->tags, limit, CUT_END);
	else
		jsonw_null(j, NULL);
	span_put_time(j, s->start_epoch_ns, start_ns);
	span_put_time(j, s->end_epoch_ns, start_ns);
	if (s->has_status && !s->signal)
		jsonw_int(j, NULL, s->exit_code);
	else
		jsonw_null(j, NULL);
	span_put_number(j, s->has_status && s->signal, (uint64_t)s->signal);
	jsonw_bool(j, NULL, s->complete);
	span_totals_put(j, &s->used);
	jsonw_array_end(j);
}

/*
 * Names in the order in which they are first needed. Those without a span in the page are left out:
 * all their spans are shorter than the ones that are there.
 */
static void spans_put_names(struct report_spans *all, struct jsonw *j, uint64_t start_ns,
			    size_t limit)
{
	size_t nr = 0;

	jsonw_array(j, "names");
	for (size_t i = 0; i < all->nr; i++) {
		struct span_name *n = &all->names[all->list[i].name];

		if (n->place != SIZE_MAX)
			continue;
		n->place = nr++;
		span_put_name(j, n, start_ns, limit);
	}
	jsonw_array_end(j);
}

/* Bytes of the page that each text can have. */
static size_t spans_limit_texts(const struct report_spans *all)
{
	size_t limit = TEXTS_BYTES / (2 * all->nr);

	return limit < TEXT_SHOWN ? limit : TEXT_SHOWN;
}

void spans_write(struct report_spans *all, uint64_t start_ns, struct jsonw *j)
{
	static const char *const of_name[] = { "name", "spans", "failed", "broken",
					       "open", "start", "end",    "longest_seconds",
					       NULL };
	static const char *const of_span[] = { "name",   "id",       "parent", "pid",
					       "tags",   "start",    "end",    "exit_code",
					       "signal", "complete", NULL };
	size_t limit;

	spans_finish(all);
	if (!all->nr)
		return;
	limit = spans_limit_texts(all);
	jsonw_object(j, "spans");
	jsonw_uint(j, "total", all->total);
	jsonw_uint(j, "unnamed", all->unnamed);
	jsonw_uint(j, "names_total", all->nr_names);
	span_fields_put(j, "name_fields", of_name);
	spans_put_names(all, j, start_ns, limit);
	span_fields_put(j, "fields", of_span);
	jsonw_array(j, "rows");
	for (size_t i = 0; i < all->nr; i++)
		span_put_row(j, &all->list[i], all->names[all->list[i].name].place, start_ns,
			     limit);
	jsonw_array_end(j);
	jsonw_object_end(j);
}
