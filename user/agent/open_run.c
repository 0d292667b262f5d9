// SPDX-License-Identifier: BSD-2-Clause
/* One run of the node, and the few samples of it that are stored. */
#include "agent/recording.h"

#include "base/clock.h"
#include "base/jansson_memory.h"
#include "base/memory.h"
#include "run/writer.h"
#include "store/edit.h"
#include "store/query.h"
#include "store/rows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A row stands for all samples since the row before it. It is written, and replaced, until it
 * covers step_ns; the next one follows. If there are more than MOST_SAMPLES, neighbours are merged
 * with a larger step until few remain. Equal samples make no rows: only the last one before a
 * change does, unless a row covers it.
 */
#define THINNED_SAMPLES (MOST_SAMPLES * 5 / 8)
#define FIRST_STEP_NS NSEC_PER_SEC
#define SAVED_NS (5 * NSEC_PER_SEC)  /* from a sample to its row */
#define SHOWN_NS (60 * NSEC_PER_SEC) /* to the next progress of an idle run */

/* Begins another row, and puts the last one of equal samples into a row before it. */
static void open_run_begin_row(struct open_run *run)
{
	run->begun_ns = run->kept_ns;
	if (run->unchanged_ns > run->begun_ns + run->step_ns)
		run->unchanged = memory_calloc(1, sizeof(*run->unchanged));
	if (run->unchanged) { /* otherwise the next row begins earlier */
		*run->unchanged = run->row;
		run->unchanged->elapsed_ns = run->begun_ns = run->unchanged_ns;
		run->unchanged->value[M_lifetime] = run->unchanged_lifetime;
	}
	run->row = (struct sample){ 0 };
	run->is_stored = false;
}

void open_run_take_sample(struct open_run *run, const struct sample *smp)
{
	const bool is_clean = run->has_row && !run->is_dirty;

	run->elapsed_ns = smp->elapsed_ns;
	if (is_clean && sample_equals(&run->row, smp)) {
		run->unchanged_ns = smp->elapsed_ns;
		run->unchanged_lifetime = smp->value[M_lifetime];
		return;
	}
	if (is_clean && (!run->is_stored || run->unchanged_ns > run->begun_ns + run->step_ns))
		open_run_begin_row(run);
	sample_cover(&run->row, smp);
	run->has_row = run->is_dirty = true;
	run->unchanged_ns = 0;
}

void open_run_take_summary(struct open_run *run, char *summary)
{
	run->summary = summary;
	if (!run->unchanged_ns)
		return;
	run->row.elapsed_ns = run->unchanged_ns;
	run->row.value[M_lifetime] = run->unchanged_lifetime;
	run->is_dirty = true;
}

/* Continuing the run of an earlier agent. */

static void earlier_free(struct earlier *e)
{
	if (!e)
		return;
	json_decref(e->members);
	free(e);
}

/* Adds what was measured before. */
static void earlier_add(const struct earlier *e, struct sample *s)
{
	s->elapsed_ns += e->totals.elapsed_ns;
	for (int i = 0; i < NR_METRICS; i++)
		if (sample_has(s, (enum metric_id)i) && sample_has(&e->totals, (enum metric_id)i))
			s->value[i] += e->totals.value[i];
}

/* Reads what a meta line in the store says of earlier parts. Returns 0 or -ENOMEM. */
static int open_run_read_earlier(struct open_run *run, const json_t *meta)
{
	json_t *c = json_object_get(meta, "continued"), *job = json_object_get(meta, "node_job");
	json_t *start = json_object_get(meta, "start_time");
	struct earlier *e;

	if (!json_is_object(c) || !job || !start)
		return 0;
	e = memory_calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	run->earlier = e;
	e->totals.elapsed_ns = member_read_number(c, "elapsed_seconds", 9);
	metrics_read(json_object_get(c, "totals"), e->totals.value, &e->totals.have);
	e->members = json_pack("{sOsOsO}", "start_time", start, "node_job", job, "continued", c);
	return e->members ? 0 : -ENOMEM;
}

/* Reads the last row of a run, of which only counters are kept. */
static int last_row_read(struct database *d, int64_t id, struct sample *last)
{
	sqlite3_stmt *s = NULL;
	int err = rows_of_samples_between(d, id, NULL, INT64_MAX, INT64_MAX, &s), rc = SQLITE_DONE;

	if (!err && (rc = sqlite3_step(s)) == SQLITE_ROW)
		err = row_sample(d, NULL, s, last);
	if (!err)
		err = database_error(d, rc);
	sqlite3_finalize(s);
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind != KIND_COUNTER)
			metric_drop(&last->have, (enum metric_id)i);
	return err;
}

/* Writes the member "continued": the times are from the start of the run. */
static void continued_write(struct jsonw *j, const struct sample *last, uint64_t elapsed_ns,
			    uint64_t gap_ns)
{
	jsonw_object(j, NULL);
	jsonw_decimal(j, "elapsed_seconds", elapsed_ns, 9);
	jsonw_decimal(j, "unmeasured_seconds", gap_ns, 9);
	jsonw_object(j, "totals");
	metrics_write(j, last->value, &last->have);
	jsonw_object_end(j);
	jsonw_object_end(j);
}

/* Makes the run @id that of @run, whose meta line is @now; @then is the stored one. */
static int run_continue(struct open_run *run, struct store_writer *w, int64_t id,
			const json_t *then, const json_t *now)
{
	const uint64_t began_ns = member_read_epoch(then, "start_time");
	uint64_t elapsed_ns = member_read_epoch(now, "start_time") - began_ns;
	uint64_t gap_ns =
		member_read_number(json_object_get(then, "continued"), "unmeasured_seconds", 9);
	struct sample last = { 0 };
	struct jsonw j = { 0 };
	char *continued;
	int64_t wall_ns = 0;
	int err = last_row_read(&w->d, id, &last);

	if (!err)
		err = database_number(&w->d, &wall_ns, NULL,
				      "SELECT ifnull(wall_ns, 0) FROM run WHERE id=%lld",
				      (long long)id);
	/* the clock may have been set back */
	if ((int64_t)elapsed_ns <= (int64_t)last.elapsed_ns)
		elapsed_ns = last.elapsed_ns + 1;
	if (elapsed_ns > (uint64_t)wall_ns)
		gap_ns += elapsed_ns - (uint64_t)wall_ns;
	continued_write(&j, &last, elapsed_ns, gap_ns);
	continued = j.failed ? NULL : memory_strndup(j.text, j.used);
	if (!err && !continued)
		err = -ENOMEM;
	if (!err)
		err = database_runf(
			&w->d,
			"UPDATE run_text SET summary=NULL, meta=json_set(meta, '$.run', %Q,"
			" '$.continued', json(%Q)) WHERE run=%lld;"
			"UPDATE run SET uuid=%Q, ended=0, complete=NULL WHERE id=%lld;"
			"DELETE FROM signature WHERE run=%lld;"
			"DELETE FROM temp.earlier WHERE id=%lld",
			run->uuid, continued, (long long)id, run->uuid, (long long)id,
			(long long)id, (long long)id);
	free(continued);
	jsonw_done(&j);
	return err;
}

/* Reads the meta line of the stored run @id; NULL if it has none, or out of memory (*@err). */
static json_t *stored_meta_read(struct database *d, int64_t id, int *err)
{
	struct run_text t;
	json_t *meta;

	*err = query_text(d, id, &t);
	if (*err)
		return NULL;
	meta = jansson_loads(t.meta, JSON_ALLOW_NUL, NULL);
	run_text_done(&t);
	return meta;
}

/* Continues the run of an earlier agent that has measured the same cgroup, if there is one. */
static int open_run_find_earlier(struct open_run *run, struct store_writer *w)
{
	json_t *now = jansson_loads(run->meta, JSON_ALLOW_NUL, NULL), *then = NULL;
	const json_t *job = json_object_get(now, "node_job");
	const long long cgroup = json_integer_value(json_object_get(job, "cgroup_id"));
	const char *name = json_string_value(json_object_get(job, "id"));
	bool is_none = true;
	int64_t id = 0;
	int err = 0;

	if (cgroup && name)
		err = database_number(&w->d, &id, &is_none,
				      "SELECT id FROM temp.earlier WHERE job=%Q AND cgroup=%lld",
				      name, cgroup);
	if (!err && !is_none)
		then = stored_meta_read(&w->d, id, &err);
	if (!err && then)
		err = run_continue(run, w, id, then, now);
	json_decref(then);
	json_decref(now);
	return err == -ENOENT ? 0 : err;
}

int open_runs_prepare(struct database *d)
{
	char self[IDENTITY_BYTES];
	int boot;

	identity_self(self);
	boot = (int)strcspn(self, " ");
	return database_runf(
		d,
		"WITH seen AS (SELECT writer, max(seen_time_ns) AS at FROM run WHERE NOT ended"
		" AND writer <> %Q GROUP BY writer)"
		" UPDATE run SET wall_ns=max(ifnull(wall_ns, 0), seen.at - start_time_ns)"
		" FROM seen WHERE NOT ended AND run.writer = seen.writer;"
		"CREATE TEMP TABLE earlier(job TEXT, cgroup INTEGER, id INTEGER,"
		" PRIMARY KEY(job, cgroup));"
		"INSERT OR REPLACE INTO temp.earlier SELECT job,"
		" json_extract(meta, '$.node_job.cgroup_id') AS cgroup, id"
		" FROM run JOIN run_text ON run_text.run = id"
		" WHERE (NOT ended OR NOT complete) AND writer GLOB '%.*q *' AND writer <> %Q"
		" AND json_valid(meta) AND cgroup ORDER BY id",
		self, boot, self, self);
}

/* Adds what is stored of the earlier parts to the summary of the last one. */
static int summary_continue(const struct open_run *run, struct store_writer *w, struct summary *s)
{
	const struct earlier *e = run->earlier;
	const json_t *c = json_object_get(e->members, "continued");
	const uint64_t forks = sample_has(&e->totals, M_forks) ? e->totals.value[M_forks] : 0;
	int64_t cores = 0, peak_ns = 0;
	int err = database_number(&w->d, &cores, NULL,
				  "SELECT ifnull(max(cores_milli), 0) FROM sample WHERE run=%lld",
				  (long long)run->kept.id);

	if (!err && run->kept.has_rss)
		err = database_number(&w->d, &peak_ns, NULL,
				      "SELECT ifnull((SELECT elapsed_ns FROM sample WHERE"
				      " run=%lld ORDER BY rss_bytes DESC LIMIT 1), 0)",
				      (long long)run->kept.id);
	earlier_add(e, &s->total);
	s->wall_ns += e->totals.elapsed_ns;
	s->rss_peak_elapsed_ns += e->totals.elapsed_ns;
	s->needed.elapsed_ns += e->totals.elapsed_ns;
	s->processes_total += forks;
	if ((uint64_t)cores > s->cores_peak)
		s->cores_peak = (uint64_t)cores;
	if (run->kept.has_rss && run->kept.rss_peak_bytes > s->rss_peak_bytes) {
		s->has_rss_peak = true;
		s->rss_peak_bytes = run->kept.rss_peak_bytes;
		s->rss_peak_elapsed_ns = (uint64_t)peak_ns;
	}
	if (s->rss_peak_bytes > s->needed.bytes) {
		s->needed.bytes = s->rss_peak_bytes;
		s->needed.elapsed_ns = s->rss_peak_elapsed_ns;
		s->needed.has_time = true;
		needed_set_source(&s->needed, "rss", "at_least");
	}
	s->complete = false;
	snprintf(s->reason, sizeof(s->reason), "no agent measured it for %.1f s",
		 json_number_value(json_object_get(c, "unmeasured_seconds")));
	return err;
}

static int open_run_put_summary(struct open_run *run, struct store_writer *w)
{
	struct line *line = run->earlier ? memory_calloc(1, sizeof(*line)) : NULL;
	struct jsonw j = { 0 };
	int err = 0;

	if (!run->earlier)
		return store_writer_put(w, run->summary, strlen(run->summary));
	if (!line)
		return -ENOMEM;
	err = line_read(line, run->summary, strlen(run->summary));
	if (!err)
		err = summary_continue(run, w, &line->summary);
	if (!err)
		write_summary(&j, &line->summary);
	if (!err)
		err = j.failed ? -ENOMEM : store_writer_put(w, j.text, j.used);
	jsonw_done(&j);
	line_done(line);
	free(line);
	return err;
}

/* Steps of the job, as spans. */

static void steps_free(struct open_run *run)
{
	while (run->steps) {
		struct ended_step *step = run->steps;

		run->steps = step->next;
		free(step->name);
		free(step->summary);
		free(step);
	}
}

bool open_run_take_step(struct open_run *run, uint64_t start_epoch_ns, const char *name,
			char *summary)
{
	struct ended_step *step = summary ? memory_calloc(1, sizeof(*step)) : NULL;
	struct ended_step **at = &run->steps;

	if (step)
		step->name = memory_strdup(name);
	if (!step || !step->name) {
		free(step);
		free(summary);
		return false;
	}
	step->start_epoch_ns = start_epoch_ns;
	step->summary = summary;
	while (*at)
		at = &(*at)->next;
	*at = step;
	return true;
}

static int step_put(const struct ended_step *step, struct open_run *run, struct store_writer *w)
{
	struct line *line = memory_calloc(1, sizeof(*line)); /* too large for the stack */
	int err = line ? line_read(line, step->summary, strlen(step->summary)) : -ENOMEM;
	struct jsonw j = { 0 };

	if (!err) {
		write_span(&j, &(struct span){
				       .id = (uint64_t)run->kept.spans + 1,
				       .label.name = step->name,
				       .start_epoch_ns = step->start_epoch_ns,
				       .end_epoch_ns = step->start_epoch_ns + line->summary.wall_ns,
				       .used = line->summary,
			       });
		err = j.failed ? -ENOMEM : store_writer_put(w, j.text, j.used);
	}
	jsonw_done(&j);
	if (line)
		line_done(line);
	free(line);
	return err;
}

static uint64_t step_after(uint64_t step_ns)
{
	return step_ns ? 2 * step_ns : FIRST_STEP_NS;
}

/*
 * Merges rows that one of @step_ns can cover, in place if @is_real. Returns how many remain. A row
 * after a longer time without one stays, as it is the end of that time.
 */
static size_t rows_merge(struct sample *rows, size_t nr, uint64_t step_ns, bool is_real)
{
	uint64_t begun_ns = 0;
	size_t kept = 0;

	for (size_t i = 0; i < nr; i++) {
		bool is_first = !i || rows[i].elapsed_ns > begun_ns + step_ns;

		if (is_first)
			begun_ns = i ? rows[i - 1].elapsed_ns : 0;
		kept += is_first;
		if (is_real && is_first)
			rows[kept - 1] = rows[i];
		else if (is_real)
			sample_cover(&rows[kept - 1], &rows[i]);
	}
	return kept;
}

static int rows_read(struct database *d, int64_t id, struct sample *rows, size_t room, size_t *nr)
{
	sqlite3_stmt *s = NULL;
	int err = rows_of_samples(d, id, NULL, &s), rc = SQLITE_DONE;

	while (!err && *nr < room && (rc = sqlite3_step(s)) == SQLITE_ROW)
		err = row_sample(d, NULL, s, &rows[(*nr)++]);
	if (!err)
		err = database_error(d, rc);
	sqlite3_finalize(s);
	return err;
}

static int open_run_thin(struct open_run *run, struct store_writer *w)
{
	struct sample *rows = memory_calloc(run->nr_rows, sizeof(*rows));
	size_t nr = 0;
	int err = rows ? rows_read(&w->d, run->kept.id, rows, run->nr_rows, &nr) : -ENOMEM;

	while (!err && rows_merge(rows, nr, run->step_ns, false) > THINNED_SAMPLES)
		run->step_ns = step_after(run->step_ns);
	if (!err)
		err = database_runf(&w->d, "DELETE FROM sample WHERE run=%lld",
				    (long long)run->kept.id);
	run->nr_rows = err ? 0 : rows_merge(rows, nr, run->step_ns, true);
	for (size_t i = 0; !err && i < run->nr_rows; i++)
		err = store_writer_put_sample(w, &rows[i]);
	free(rows);
	run->is_thinned = true;
	return err;
}

static int open_run_put_row(const struct open_run *run, struct store_writer *w,
			    const struct sample *row)
{
	struct sample whole = *row;

	if (run->earlier)
		earlier_add(run->earlier, &whole);
	return store_writer_put_sample(w, &whole);
}

static uint64_t open_run_offset(const struct open_run *run)
{
	return run->earlier ? run->earlier->totals.elapsed_ns : 0;
}

static int open_run_write_rows(struct open_run *run, struct store_writer *w)
{
	const int64_t kept_ns = (int64_t)(run->kept_ns + open_run_offset(run));
	int err = run->unchanged ? open_run_put_row(run, w, run->unchanged) : 0;

	run->nr_rows += run->unchanged != NULL;
	if (!err && run->is_stored)
		err = database_runf(&w->d, "DELETE FROM sample WHERE run=%lld AND elapsed_ns=%lld",
				    (long long)run->kept.id, (long long)kept_ns);
	if (!err)
		err = open_run_put_row(run, w, &run->row);
	run->nr_rows += !run->is_stored;
	return err || run->nr_rows <= MOST_SAMPLES ? err : open_run_thin(run, w);
}

/* Continues the rows that another process, or an undone transaction, has left. */
static int open_run_resume_rows(struct open_run *run, struct database *d)
{
	const long long id = run->kept.id;
	const uint64_t offset_ns = open_run_offset(run);
	int64_t nr = 0, last_ns = 0;
	int err = database_number(d, &nr, NULL, "SELECT count(*) FROM sample WHERE run=%lld", id);

	if (!err && nr)
		err = database_number(d, &last_ns, NULL,
				      "SELECT max(elapsed_ns) FROM sample WHERE run=%lld", id);
	if (!err)
		err = database_number(d, &run->kept.spans, NULL,
				      "SELECT count(*) FROM span WHERE run=%lld", id);
	run->nr_rows = (size_t)nr;
	while (run->nr_rows > MOST_SAMPLES / 2 && (uint64_t)last_ns > run->nr_rows * run->step_ns)
		run->step_ns = step_after(run->step_ns);
	if (!run->kept_ns && (uint64_t)last_ns > offset_ns)
		run->begun_ns = run->kept_ns = (uint64_t)last_ns - offset_ns;
	return err;
}

/* Finds the run in the store, where another process may have begun it. */
static int open_run_resume(struct open_run *run, struct store_writer *w)
{
	json_t *meta = NULL;
	int err = store_writer_resume(w, run->uuid);

	earlier_free(run->earlier);
	run->earlier = NULL;
	if (!err && !run->kept.id && run->meta) {
		err = open_run_find_earlier(run, w);
		if (!err)
			err = store_writer_resume(w, run->uuid);
	}
	if (err || !run->kept.id)
		return err;
	run->has_new_meta = true; /* that in the store may be older */
	meta = stored_meta_read(&w->d, run->kept.id, &err);
	if (!err)
		err = open_run_read_earlier(run, meta);
	json_decref(meta);
	return err ? err : open_run_resume_rows(run, &w->d);
}

/* Replaces the meta line in the store, but for what is known from before. */
static int open_run_put_meta(struct open_run *run, struct store_writer *w)
{
	json_t *meta = run->earlier ? jansson_loads(run->meta, JSON_ALLOW_NUL, NULL) : NULL;
	struct jsonw j = { 0 };
	char *text = NULL;
	int err;

	if (!run->earlier)
		return store_replace_meta(&w->d, run->kept.id, run->meta);
	if (meta && !json_object_update(meta, run->earlier->members)) {
		tree_write(&j, NULL, meta);
		text = j.failed ? NULL : memory_strndup(j.text, j.used);
	}
	err = text ? store_replace_meta(&w->d, run->kept.id, text) : -ENOMEM;
	free(text);
	jsonw_done(&j);
	json_decref(meta);
	return err;
}

void open_run_free(struct open_run *run)
{
	free(run->meta);
	free(run->summary);
	free(run->unchanged);
	earlier_free(run->earlier);
	steps_free(run);
	free(run);
}

bool open_run_is_due(const struct open_run *run, uint64_t min_ns)
{
	if (run->summary || run->has_vanished)
		return true;
	if (run->folded_into[0])
		return false;
	if (run->elapsed_ns < min_ns || (!run->meta && run->is_searched && !run->kept.id))
		return false;
	if (!run->kept.id || run->unchanged || run->steps)
		return true;
	if (run->unchanged_ns >= run->shown_ns + SHOWN_NS)
		return true;
	return run->is_dirty && (run->row.elapsed_ns >= run->begun_ns + run->step_ns ||
				 run->row.elapsed_ns >= run->kept_ns + SAVED_NS);
}

int open_run_write(struct open_run *run, struct store_writer *w)
{
	int err = 0;

	run->is_touched = true;
	store_writer_select(w, &run->kept);
	if (!run->is_searched && !run->kept.id)
		err = open_run_resume(run, w);
	run->is_searched = true;
	if (!err && !run->kept.id && run->meta)
		err = store_writer_put(w, run->meta, strlen(run->meta));
	if (err || !run->kept.id)
		return err;
	if (run->has_new_meta && run->meta)
		err = open_run_put_meta(run, w);
	if (!err && run->is_dirty)
		err = open_run_write_rows(run, w);
	else if (!err && run->unchanged_ns)
		run->kept.wall_ns = run->unchanged_ns + open_run_offset(run);
	for (const struct ended_step *step = run->steps; !err && step; step = step->next)
		err = step_put(step, run, w);
	if (!err && run->summary)
		err = open_run_put_summary(run, w);
	if (err)
		return err;
	return run->has_vanished && !run->summary ? store_writer_end_run(w)
						  : store_writer_save_progress(w);
}

void open_run_settle(struct open_run *run, bool is_committed)
{
	run->is_touched = false;
	if (!is_committed) {
		run->is_thinned = false;
		run->kept = (struct store_run){ 0 };
		run->is_searched = false;
		return;
	}
	run->has_new_meta = false;
	if (!run->kept.id)
		return;
	steps_free(run);
	run->shown_ns = run->elapsed_ns;
	if (!run->is_dirty)
		return;
	free(run->unchanged);
	run->unchanged = NULL;
	run->kept_ns = run->row.elapsed_ns;
	run->is_dirty = false;
	run->is_stored = !run->is_thinned && run->kept_ns < run->begun_ns + run->step_ns;
	run->is_thinned = false;
}
