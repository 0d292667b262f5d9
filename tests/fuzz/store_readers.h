/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * All readers of a store, on a file that may be hostile. Sanitizers check memory and arithmetic;
 * and a store that passes store_check() is read by all without an error, can be merged, and makes a
 * store that passes, too. Shared by the targets of the fuzzer and the unit tests.
 */
#ifndef TESTS_FUZZ_STORE_READERS_H
#define TESTS_FUZZ_STORE_READERS_H

#include "bpfmon/show_spans.h"
#include "study/side.h"
#include "export/export.h"
#include "store/database_open.h"
#include "store/edit.h"
#include "store/store_writer.h"
#include "page/figure.h"
#include "page/page.h"
#include "page/page_run.h"
#include "store/database.h"
#include "store/merge.h"
#include "store/query.h"
#include "holds.h"
#include "text/curve.h"
#include "text/meta_text.h"
#include "text/spans_text.h"
#include "text/runs_text.h"
#include "text/summary_text.h"
#include "run/rewriter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define READERS_RUNS 3 /* of that many each part is read */

/* The results: 0, or the first error of each. */
struct store_read {
	int opened, checked, listed, given, merged;
	char why[512]; /* of the check */
};

static inline int readers_discard(void *context, const char *text, size_t length)
{
	(void)context;
	(void)text;
	(void)length;
	return 0;
}

static inline int readers_rewrite(void *context, struct line *l)
{
	struct jsonw *j = context;

	jsonw_reset(j);
	rewrite_line(j, l);
	return 0;
}

static inline int readers_curve(void *context, struct line *l)
{
	curves_add(context, &l->sample);
	return 0;
}

static inline int readers_meta(void *context, struct line *l)
{
	meta_text(context, l->tree, 80);
	return 0;
}

/* As `--by span`. */
static inline int readers_show_spans(struct source *s, const struct summary *total, FILE *out)
{
	const struct spans_view view = { .width = 80 };
	struct spans_shown shown;
	struct jsonw j = { 0 };
	int err = spans_shown_read(&shown, s, false);

	if (!err) {
		char *text = spans_text(&shown.paths, &shown.sums, total, &view);

		spans_json(&j, &shown, total);
		fputs(text, out);
		free(text);
		err = spans_json_each(&j, s);
	}
	jsonw_done(&j);
	spans_shown_done(&shown);
	return err;
}

/* As `bpfmon show` and `--by phase`. */
static inline int readers_show(struct source *s, FILE *out)
{
	struct summary total = { 0 };
	struct metric_set needed;
	struct phases phases = { 0 };
	struct jsonw j = { 0 };
	struct curves c;
	bool is_folded;
	int err = source_each(s, PART(LINE_META), readers_meta, out);
	char *text;

	if (!err)
		err = source_summary(s, &total, &is_folded);
	if (!err) {
		text = summary_text(&total, NULL, 80);
		fputs(text, out);
		free(text);
		curves_init(&c, total.wall_ns, 80);
		curves_metrics(&needed);
		s->only = &needed;
		s->is_coarse = true;
		err = source_each(s, PART(LINE_SAMPLE), readers_curve, &c);
		s->only = NULL;
		s->is_coarse = false;
		curves_draw(&c, out, true);
	}
	if (!err)
		err = phases_read(&phases, s, total.wall_ns);
	if (!err) {
		phases_json(&j, &phases);
		text = phases_text(&phases, false, 80);
		fputs(text, out);
		free(text);
	}
	if (!err)
		err = readers_show_spans(s, &total, out);
	jsonw_done(&j);
	phases_done(&phases);
	summary_done(&total);
	return err;
}

static inline int readers_export(struct source *s)
{
	const struct export_format *f;
	int err = 0;

	for (size_t i = 0; !err && (f = export_at(i)); i++)
		for (size_t k = 0; !err && k < EXPORT_DOCUMENTS && f->documents[k].write; k++) {
			struct exporter e;

			err = export_open(&e, s);
			if (!err)
				err = export_write(&e, &f->documents[k], readers_discard, NULL);
			export_close(&e);
		}
	return err;
}

static inline int readers_report(struct source *s, FILE *out)
{
	struct report_run r = { 0 };
	struct page_data d = { 0 };
	int err = report_open(&r);

	if (!err)
		err = report_read(&r, s);
	if (!err && !report_write_data(&r, "a run", &d)) {
		page_write(out, &d);
		figure_write(out, &r, &(struct figure_layout){ .panel = FIGURE_ALL });
	}
	jsonw_done(&d.json);
	report_close(&r);
	return err == -ENODATA ? 0 : err; /* no samples: nothing to draw */
}

/* Runs all kinds of readers; returns the first error. */
static inline int readers_give(const char *path, const struct stored_run *run, FILE *out)
{
	struct sides sides = { 0 };
	struct jsonw j = { 0 };
	static struct source s;
	int errors[5] = { source_open_stored(&s, path, run->id, run->state) }, err = 0;

	if (!errors[0]) {
		errors[0] = source_each(&s, PARTS_ALL, readers_rewrite, &j);
		FUZZ_HOLDS(errors[0] != -EUCLEAN || s.why[0]);
		errors[1] = readers_show(&s, out);
		errors[2] = readers_export(&s);
		errors[3] = readers_report(&s, out);
		errors[4] = sides_add_run(&sides, "a run", &s);
	}
	for (size_t i = 0; !err && i < sizeof(errors) / sizeof(*errors); i++)
		err = errors[i];
	sides_done(&sides);
	jsonw_done(&j);
	source_close(&s);
	return err;
}

static inline void readers_list(struct database *d, const char *path, struct store_read *what)
{
	static const struct run_columns usual;
	const char *const none[] = { "" };
	struct stored_runs all = { 0 };
	struct run_filter any = { 0 };
	char *text = NULL;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	FUZZ_HOLDS(out);
	what->listed = query_runs(d, 0, &any, &all);
	FUZZ_HOLDS(!what->listed || d->why[0]);
	if (!what->listed) {
		stored_runs_sort(&all, BY_MEMORY);
		runs_table(out, &all, all.nr, none, &usual, 80);
		runs_csv(out, &all, all.nr, none, &usual);
		runs_json(out, &all, all.nr, none);
	}
	for (size_t i = 0; !what->listed && !what->given && i < all.nr && i < READERS_RUNS; i++)
		what->given = readers_give(path, &all.runs[i], out);
	stored_runs_done(&all);
	fclose(out);
	free(text);
}

/* Merges all of it into the store @into, which then has to pass the check. */
static inline void readers_merge(const char *path, bool is_unchanging, const char *into,
				 struct store_read *what)
{
	struct store_writer w;
	struct merged m = { 0 };
	struct database d;
	int64_t rows;

	FUZZ_HOLDS(!store_writer_open(&w, into));
	what->merged = merge_store(&w.d, path, is_unchanging, store_copy_words, &m);
	FUZZ_HOLDS(!what->merged || w.d.why[0]);
	store_writer_close(&w);
	FUZZ_HOLDS(!database_open(&d, into, DATABASE_READ));
	if (!what->merged)
		FUZZ_HOLDS(!store_check(&d, &rows) && !rows);
	database_close(&d);
}

/* Runs all of them. @into: the path of an empty store, which may have runs afterwards. */
static inline void readers_run(const char *path, const char *into, struct store_read *what)
{
	struct database d;
	int64_t rows;

	*what = (struct store_read){ 0 };
	what->opened = database_open(&d, path, DATABASE_READ);
	FUZZ_HOLDS(!what->opened || d.why[0]);
	if (!what->opened) {
		readers_list(&d, path, what);
		what->checked = store_check(&d, &rows);
		snprintf(what->why, sizeof(what->why), "%s", what->checked ? d.why : "");
		FUZZ_HOLDS(!what->checked || what->why[0]);
	} else {
		snprintf(what->why, sizeof(what->why), "%s", d.why);
	}
	database_close(&d);
	if (!what->opened && !what->checked) {
		FUZZ_HOLDS(!what->listed && !what->given);
		readers_merge(path, d.is_unchanging, into, what);
	}
}

/* Removes a store and the files that SQLite makes beside it. */
static inline void readers_remove(const char *store)
{
	static const char *const endings[] = { "", "-wal", "-shm", "-journal" };
	char path[300];

	for (size_t i = 0; i < sizeof(endings) / sizeof(*endings); i++) {
		snprintf(path, sizeof(path), "%s%s", store, endings[i]);
		unlink(path);
	}
}

#endif
