// SPDX-License-Identifier: BSD-2-Clause
#include "page/page_run.h"

#include "base/cleanup.h"
#include "base/json.h"
#include "base/memory.h"
#include "run/phase.h"
#include "run/time_parts.h"
#include "page/excerpt.h"
#include "store/source_phases.h"
#include "text/answer.h"
#include "text/summary_lines.h"
#include "run/reader.h"
#include "version.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PHASES_SHOWN 1000 /* the first ones */

#define TEXT_SHOWN 200 /* bytes of the text of a mark */

static const enum metric_id shown[] = { M_cpu, M_user, M_system, M_rss, M_read, M_write, M_forks };
#define NR_SHOWN (sizeof(shown) / sizeof(*shown))

static void phases_add_metrics(struct metric_set *set)
{
	for (size_t i = 0; i < NR_SHOWN; i++)
		metric_put(set, shown[i]);
}

static void phase_write(struct jsonw *j, const struct phase *ph)
{
	json_t *text = ph->text ? json_string(ph->text) : json_null();

	jsonw_array(j, NULL);
	excerpt_write(j, NULL, text, TEXT_SHOWN, 0);
	json_decref(text);
	jsonw_decimal(j, NULL, ph->start_ns, 9);
	jsonw_decimal(j, NULL, ph->end_ns, 9);
	if (ph->is_shared)
		jsonw_uint(j, NULL, ph->shared_with);
	else
		jsonw_null(j, NULL);
	jsonw_uint(j, NULL, ph->nr_shared);
	jsonw_decimal(j, NULL, ph->is_shared ? ph->end_ns : ph[ph->nr_shared - 1].end_ns, 9);
	for (size_t i = 0; i < NR_SHOWN; i++) {
		if (metric_has(&ph->have, shown[i]))
			jsonw_decimal(j, NULL, ph->value[shown[i]], metric_decimals(shown[i]));
		else
			jsonw_null(j, NULL);
	}
	jsonw_array_end(j);
}

/*
 * Writes "phases":{"total":...,"left_out":...,"fields":[...],"rows":[[...]]}, or nothing if the
 * command set no mark.
 */
static void phases_write(const struct phases *p, struct jsonw *j)
{
	if (p->nr < 2)
		return;
	jsonw_object(j, "phases");
	jsonw_uint(j, "total", p->nr);
	jsonw_uint(j, "left_out", p->left_out);
	jsonw_array(j, "fields");
	jsonw_string(j, NULL, "text");
	jsonw_string(j, NULL, "start");
	jsonw_string(j, NULL, "end");
	jsonw_string(j, NULL, "shared_with");
	jsonw_string(j, NULL, "shared_phases");
	jsonw_string(j, NULL, "shared_end");
	for (size_t i = 0; i < NR_SHOWN; i++)
		jsonw_string(j, NULL, metric_get(shown[i])->key);
	jsonw_array_end(j);
	jsonw_array(j, "rows");
	for (size_t i = 0; i < p->nr && i < PHASES_SHOWN; i++)
		phase_write(j, &p->all[i]);
	jsonw_array_end(j);
	jsonw_object_end(j);
}

/* The tiles of a report use the words and rules of the summary on a terminal. */

static void answer_slowed_text(FILE *f, const struct answer *a)
{
	slowdown_short_text(f, &a->slowdown);
}

static void answer_write_part(struct jsonw *j, const char *key, answer_part_fn *write,
			      const struct answer *a)
{
	__cleanup(freep) char *text = answer_part_make(write, a);

	if (!text)
		j->failed = true;
	else if (*text)
		jsonw_string(j, key, text);
}

/* Writes what the threads waited for, if it is known. */
static void waits_write(struct jsonw *j, const struct sample *total,
			const unsigned percent[NR_TIME_PARTS])
{
	struct waited_share list[NR_WAITED];
	const size_t nr = time_waits(total, percent, list);

	if (!nr)
		return;
	jsonw_array(j, "time_waits");
	for (size_t i = 0; i < nr; i++) {
		jsonw_object(j, NULL);
		jsonw_string(j, "name", waited_word(list[i].what));
		jsonw_decimal(j, "seconds", list[i].ns, 9);
		jsonw_uint(j, "percent", list[i].share);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
}

/* Writes the parts of the time, for one bar. Returns false if there are none. */
static bool time_write(struct jsonw *j, const struct sample *total)
{
	unsigned percent[NR_TIME_PARTS];
	struct time_parts t;
	bool has_any = false;

	if (!time_parts_of(&t, total))
		return false;
	time_parts_divide(&t, 100, percent);
	jsonw_array(j, "time_parts");
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		if (!t.ns[i])
			continue;
		has_any = true;
		jsonw_object(j, NULL);
		jsonw_string(j, "name", time_part_name(&t, i));
		jsonw_decimal(j, "seconds", t.ns[i], 9);
		jsonw_uint(j, "percent", percent[i]);
		jsonw_object_end(j);
	}
	jsonw_array_end(j);
	waits_write(j, total, percent);
	return has_any;
}

static void answer_write_limit(struct jsonw *j, const struct limit_hit *hit)
{
	__cleanup(freep) char *text = NULL;

	if (!hit->text[0])
		return;
	text = limit_text_make(hit);
	if (text)
		jsonw_string(j, "limit", text);
	else
		j->failed = true;
}

void report_answer(struct answer *a, struct report_run *r, struct summary *total)
{
	summary_read_members(total, r->summary);
	answer_of_run(a, total, r->meta, &r->times, &r->stalls);
	if (r->is_running)
		answer_of_running(a);
}

/*
 * Writes
 * "answer":{"slowdown":TEXT,"slowed":TEXT,"peak_bytes":...,"end":TEXT,"request":TEXT,"limit":TEXT,
 * "used":TEXT,"phase":TEXT,"busy":...} without unknown members. "limit" is the limit that the run
 * exceeded, "busy" the used share of its cores. A running run may still grow, so it has no request.
 */
static void report_answer_write(struct report_run *r, struct page_data *d)
{
	struct jsonw *j = &d->json;
	struct summary total = { 0 };
	struct answer answer;
	char end[RUN_END_BYTES];

	report_answer(&answer, r, &total);
	jsonw_object(j, "answer");
	answer_write_part(j, "slowdown", answer_slowdown_text, &answer);
	answer_write_part(j, "slowed", answer_slowed_text, &answer);
	if (memory_peak_bytes(&total))
		jsonw_uint(j, "peak_bytes", memory_peak_bytes(&total));
	if (total.has_status)
		jsonw_string(j, "end", format_run_end(end, &total));
	if (!r->is_running)
		answer_write_part(j, "request", answer_request_text, &answer);
	answer_write_limit(j, &total.limit);
	answer_write_part(j, "used", answer_cores_text, &answer);
	answer_write_part(j, "phase", answer_phase_text, &answer);
	if (answer.has_cores && answer.cores_available)
		jsonw_decimal(j, "busy", answer.cores_used * 10000 / answer.cores_available, 4);
	if (time_write(j, &total.total))
		d->parts |= PAGE_TIMES;
	jsonw_object_end(j);
	summary_done(&total);
}

#define META_TEXT (128 << 10)  /* bytes per text of the meta line */
#define META_BYTES (512 << 10) /* bytes of the meta line */
#define OTHER_TEXT 1000
#define SUMMARY_BYTES (512 << 10)
#define META_ITEMS 4096
#define PROGRAMS_SHOWN 1000
#define EVENTS_OF_A_NAME 1000
#define EVENTS_BYTES (1 << 20)
#define EVENT_NAMES 100
#define PROCESS_TEXTS (3UL << 19) /* bytes; fewer in a page with spans, which need room */
#define PROCESS_TEXTS_BESIDE_SPANS (9UL << 17)

int report_open(struct report_run *r)
{
	*r = (struct report_run){ .events = json_array(), .event_counts = json_object() };
	if (!r->events || !r->event_counts)
		return -ENOMEM;
	return charts_init(&r->charts, CHART_ROOM);
}

void report_close(struct report_run *r)
{
	json_decref(r->meta);
	json_decref(r->summary);
	json_decref(r->events);
	json_decref(r->event_counts);
	charts_done(&r->charts);
	missing_done(&r->missing);
	held_done(&r->held);
	processes_done(&r->processes);
	report_spans_done(&r->spans);
	series_done(&r->pushed);
	phases_done(&r->phases);
	phase_times_done(&r->times);
}

/* Keeps the first events of each name, and counts all but those of missing samples. */
static int report_add_event(struct report_run *r, json_t *event)
{
	const char *name = json_string_value(json_object_get(event, "event"));
	double interval = json_number_value(json_object_get(r->meta, "interval_seconds"));
	bool is_taken;
	int err = missing_add(&r->missing, event, interval, &is_taken);
	json_int_t count;

	if (!name || is_taken)
		return err;
	count = json_integer_value(json_object_get(r->event_counts, name)) + 1;
	if (count == 1 && json_object_size(r->event_counts) >= EVENT_NAMES)
		return 0;
	if (json_object_set_new(r->event_counts, name, json_integer(count)))
		return -ENOMEM;
	r->event_bytes += json_dumpb(event, NULL, 0, JSON_COMPACT);
	if (count > EVENTS_OF_A_NAME || r->event_bytes > EVENTS_BYTES)
		return 0;
	return json_array_append(r->events, event) ? -ENOMEM : 0;
}

/*
 * First pass: counts the points of series, ranks the processes of samples, and reads all marks, as
 * the second pass needs these.
 */
static int report_count_line(void *context, struct line *l)
{
	struct report_run *r = context;

	if (l->kind == LINE_METRIC)
		return series_count(&r->pushed, l);
	if (l->kind == LINE_PROCESS_SAMPLE)
		return held_count(&r->held, &l->process_sample);
	marks_add(&r->phases, l);
	marks_add_time(&r->times, l);
	return 0;
}

static void tree_replace(json_t **slot, json_t *tree)
{
	json_decref(*slot);
	*slot = json_incref(tree);
}

static int report_add_line(void *context, struct line *l)
{
	struct report_run *r = context;

	switch (l->kind) {
	case LINE_META:
		tree_replace(&r->meta, l->tree);
		r->start_epoch_ns = l->start_epoch_ns;
		return 0;
	case LINE_SAMPLE:
		r->samples++;
		charts_add(&r->charts, &l->sample);
		held_add_sample(&r->held, &l->sample);
		phases_add_sample(&r->phases, &l->sample);
		return 0;
	case LINE_PROCESS:
		return processes_add(&r->processes, &l->process);
	case LINE_EVENT:
		stall_state_update(&r->stall, l->tree);
		stalls_add(&r->stalls, l->tree);
		return report_add_event(r, l->tree);
	case LINE_SUMMARY:
		tree_replace(&r->summary, l->tree);
		return 0;
	case LINE_METRIC:
		return series_add(&r->pushed, l);
	case LINE_SPAN:
		return spans_add(&r->spans, &l->span);
	case LINE_PROCESS_SAMPLE:
		held_add_process(&r->held, &l->process_sample);
		return 0;
	case LINE_OTHER:
		break;
	}
	return 0;
}

static int report_read_parts(struct report_run *r, struct source *s)
{
	struct metric_set needed = { 0 };
	int err = source_each(s, PART(LINE_EVENT) | PART(LINE_METRIC) | PART(LINE_PROCESS_SAMPLE),
			      report_count_line, r);

	if (!err)
		err = series_choose(&r->pushed);
	if (!err)
		err = held_choose(&r->held);
	charts_add_metrics(&needed);
	processes_add_metrics(&needed);
	phases_add_metrics(&needed);
	s->only = &needed;
	if (!err)
		err = source_each(s, PARTS_ALL, report_add_line, r);
	s->only = NULL;
	return err;
}

int report_read(struct report_run *r, struct source *s)
{
	int err = report_read_parts(r, s);
	void *computed;
	bool is_folded;

	r->unreadable = s->unreadable;
	r->is_cut = s->is_cut || !r->summary;
	r->is_running = s->is_running && !r->summary;
	if (!err && !r->samples)
		err = -ENODATA;
	if (!err && !r->summary) {
		err = source_summary_tree(s, &computed, &is_folded);
		r->summary = computed;
	}
	phases_finish(&r->phases, member_read_number(r->summary, "wall_seconds", 9));
	return err;
}

/* Omits units and available capabilities, which no page shows. */
static void report_write_meta(const struct report_run *r, struct jsonw *j)
{
	json_t *meta = json_copy(r->meta), *missing = json_object(), *v;
	const char *key;

	json_object_foreach(json_object_get(meta, "capabilities"), key, v)
		if (!json_is_true(json_object_get(v, "available")))
			json_object_set_nocheck(missing, key, v);
	if (json_object_get(meta, "capabilities"))
		json_object_set(meta, "capabilities", missing);
	json_object_del(meta, "units");
	j->failed |= !missing || (r->meta && !meta);
	excerpt_fit(j, "meta", meta, META_TEXT, META_ITEMS, META_BYTES);
	json_decref(missing);
	json_decref(meta);
}

static const char *const program_fields[] = {
	"exe",          "processes",      "cpu_seconds",
	"user_seconds", "system_seconds", "rss_peak_bytes",
	"read_bytes",   "write_bytes",    "minflt",
	"majflt",       "nvcsw",          "nivcsw",
};
#define NR_PROGRAM_FIELDS (sizeof(program_fields) / sizeof(*program_fields))

/* Returns the first programs as rows, in the order of the fields. NULL without memory. */
static json_t *programs_make_rows(const json_t *programs)
{
	json_t *rows = json_array(), *row, *v;
	bool failed = !rows;

	for (size_t i = 0; i < json_array_size(programs) && i < PROGRAMS_SHOWN; i++) {
		row = json_array();
		failed |= json_array_append_new(rows, row);
		for (size_t k = 0; k < NR_PROGRAM_FIELDS; k++) {
			v = json_object_get(json_array_get(programs, i), program_fields[k]);
			failed |= v ? json_array_append(row, v)
				    : json_array_append_new(row, json_null());
		}
	}
	if (!failed)
		return rows;
	json_decref(rows);
	return NULL;
}

/* Writes programs as rows, apart from the summary: they take a third of the bytes of objects. */
static void report_write_summary(struct report_run *r, struct jsonw *j)
{
	const json_t *programs = json_object_get(r->summary, "programs");
	json_t *rows = programs_make_rows(programs), *rest = json_copy(r->summary);

	j->failed |= !rows || (r->summary && !rest);
	jsonw_object(j, "programs");
	jsonw_uint(j, "total", json_array_size(programs));
	jsonw_array(j, "fields");
	for (size_t i = 0; i < NR_PROGRAM_FIELDS; i++)
		jsonw_string(j, NULL, program_fields[i]);
	jsonw_array_end(j);
	excerpt_fit(j, "rows", rows, OTHER_TEXT, PROGRAMS_SHOWN, SUMMARY_BYTES);
	jsonw_object_end(j);
	json_object_del(rest, "programs");
	excerpt_fit(j, "summary", rest, OTHER_TEXT, PROGRAMS_SHOWN, SUMMARY_BYTES);
	json_decref(rows);
	json_decref(rest);
}

/* Sets @part if the data has grown beyond @before bytes. */
static void page_set_part(struct page_data *d, size_t before, enum page_part part)
{
	if (d->json.used > before)
		d->parts |= part;
}

/* Writes what a page shows below its charts, and sets the parts for it. */
static int report_write_parts(struct report_run *r, struct page_data *d)
{
	struct jsonw *j = &d->json;
	size_t before = j->used;
	int err;

	phases_write(&r->phases, j);
	page_set_part(d, before, PAGE_PHASES);
	before = j->used;
	spans_write(&r->spans, r->start_epoch_ns, j);
	page_set_part(d, before, PAGE_SPANS);
	err = charts_write(&r->charts, j);
	before = j->used;
	if (!err)
		err = held_write(&r->held, j);
	page_set_part(d, before, PAGE_HELD);
	before = j->used;
	if (!err)
		err = series_write(&r->pushed, j);
	page_set_part(d, before, PAGE_PUSHED);
	return err;
}

int report_write_data(struct report_run *r, const char *name, struct page_data *d)
{
	struct jsonw *j = &d->json;
	int err;

	jsonw_object(j, NULL);
	jsonw_string(j, "version", BPFMON_VERSION);
	jsonw_string(j, "source", name);
	jsonw_uint(j, "samples", r->samples);
	jsonw_uint(j, "unreadable", r->unreadable);
	jsonw_bool(j, "cut", r->is_cut);
	jsonw_bool(j, "running", r->is_running);
	if (r->is_running)
		stall_state_write(&r->stall, j);
	report_write_meta(r, j);
	report_write_summary(r, j);
	if (json_array_size(json_object_get(r->summary, "rss_peak_holders")))
		d->parts |= PAGE_HOLDERS;
	if (json_object_size(json_object_get(r->summary, "by")))
		d->parts |= PAGE_INSTANCES;
	if (json_object_get(r->summary, "gpus_held_peak") ||
	    json_object_get(r->summary, "energy_apportioned_joules") ||
	    processes_use_gpus(&r->processes))
		d->parts |= PAGE_GPUS;
	report_answer_write(r, d);
	excerpt_fit(j, "events", r->events, OTHER_TEXT, SIZE_MAX, EVENTS_BYTES);
	missing_write(&r->missing, r->samples, (double)r->charts.last_elapsed_ns / 1e9, j);
	if (json_array_size(r->events) || r->missing.samples)
		d->parts |= PAGE_EVENTS;
	excerpt_write(j, "event_counts", r->event_counts, OTHER_TEXT, SIZE_MAX);
	err = report_write_parts(r, d);
	if (!err)
		err = processes_write(&r->processes, r->start_epoch_ns,
				      r->spans.nr ? PROCESS_TEXTS_BESIDE_SPANS : PROCESS_TEXTS, j);
	if (processes_have_timeline(&r->processes))
		d->parts |= PAGE_TIMELINE;
	jsonw_object_end(j);
	return j->failed ? -ENOMEM : err;
}

/* A part of a run. */

struct page_window {
	struct report_charts charts;
	uint64_t to_ns;
};

static int page_window_add_line(void *context, struct line *l)
{
	struct page_window *w = context;

	if (l->kind == LINE_SAMPLE && l->sample.elapsed_ns <= w->to_ns)
		charts_add(&w->charts, &l->sample);
	return 0;
}

int page_window_write(struct source *s, uint64_t from_ns, uint64_t to_ns, struct jsonw *j)
{
	struct page_window *w = memory_calloc(1, sizeof(*w)); /* too large for the stack */
	struct metric_set needed = { 0 };
	int err = w ? charts_init(&w->charts, CHART_ROOM) : -ENOMEM;

	charts_add_metrics(&needed);
	s->only = &needed;
	s->samples_from_ns = from_ns;
	s->samples_to_ns = to_ns;
	if (!err) {
		w->to_ns = to_ns;
		w->charts.from_ns = from_ns + 1;
		w->charts.shows_rare = true; /* the rest of the run may have other values */
		err = source_each(s, PART(LINE_SAMPLE), page_window_add_line, w);
	}
	s->only = NULL;
	s->samples_from_ns = s->samples_to_ns = 0;
	jsonw_object(j, NULL);
	if (!err)
		err = charts_write(&w->charts, j);
	jsonw_object_end(j);
	if (w)
		charts_done(&w->charts);
	free(w);
	return err ? err : j->failed ? -ENOMEM : 0;
}
