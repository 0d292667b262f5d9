// SPDX-License-Identifier: BSD-2-Clause
/* A run as JSON Lines, printed by `bpfmon show` and `compare`: UTF-8 that steers no terminal. */
#include "fuzz.h"

#include "bpfmon/show_spans.h"
#include "study/diff.h"
#include "study/compare_document.h"
#include "study/compare_text.h"
#include "text/curve.h"
#include "text/summary_tables.h"
#include "text/meta_text.h"
#include "text/spans_text.h"
#include "text/summary_text.h"

#define HEAVIEST 5

struct shown {
	json_t *meta;
	struct curves curves;
	struct process_sample heaviest[HEAVIEST];
	size_t nr;
};

static int add_part(void *context, struct line *l)
{
	struct shown *s = context;

	if (l->kind == LINE_META)
		s->meta = json_incref(l->tree);
	else if (l->kind == LINE_SAMPLE)
		curves_add(&s->curves, &l->sample);
	else if (l->kind == LINE_PROCESS_SAMPLE && s->nr < HEAVIEST)
		s->heaviest[s->nr++] = l->process_sample;
	return 0;
}

static void put_text(FILE *f, char *text)
{
	FUZZ_HOLDS(text);
	fputs(text, f);
	free(text);
}

static void spans_print(FILE *f, struct source *s, const struct summary *total, bool is_each)
{
	struct spans_view view = { .is_each = is_each, .has_spread = is_each, .width = 80 };
	struct spans_shown shown;
	struct jsonw j = { 0 };
	ssize_t nr_hidden;

	FUZZ_HOLDS(!spans_shown_read(&shown, s, is_each));
	nr_hidden = span_paths_sort(&shown.paths, &shown.sums, SPANS_BY_CPU, is_each ? 0 : 3);
	FUZZ_HOLDS(nr_hidden >= 0);
	view.nr_hidden = (uint64_t)nr_hidden;
	put_text(f, spans_text(&shown.paths, &shown.sums, total, &view));
	jsonw_object(&j, NULL);
	spans_json(&j, &shown, total);
	FUZZ_HOLDS(!spans_json_each(&j, s) && !j.failed);
	jsonw_done(&j);
	spans_shown_done(&shown);
}

static void summary_print(FILE *f, struct source *s, const struct summary *total)
{
	struct shown shown = { 0 };
	struct phases phases = { 0 };
	struct jsonw j = { 0 };

	for (size_t width = 10; width < 200; width += 70) {
		curves_init(&shown.curves, total->wall_ns, width);
		FUZZ_HOLDS(!source_each(s, PARTS_ALL, add_part, &shown));
		meta_text(f, shown.meta, width);
		put_text(f, summary_text(total, NULL, width));
		curves_draw(&shown.curves, f, width > 50);
		json_decref(shown.meta);
	}
	heaviest_text(f, "at the peak", shown.heaviest, shown.nr);
	FUZZ_HOLDS(!phases_read(&phases, s, total->wall_ns));
	put_text(f, phases_text(&phases, false, 80));
	put_text(f, phases_text(&phases, true, 80));
	spans_print(f, s, total, false);
	spans_print(f, s, total, true);
	jsonw_object(&j, NULL);
	phases_json(&j, &phases);
	FUZZ_HOLDS(!phase_sums_json(&j, &phases));
	jsonw_object_end(&j);
	json_decref(fuzz_json(j.text, j.used));
	jsonw_done(&j);
	phases_done(&phases);
}

static void compare_with_itself(FILE *f, struct source *s)
{
	struct sides all = { 0 };
	struct groups groups = { 0 };
	struct comparison c;
	struct jsonw j = { 0 };
	json_t *diff;

	FUZZ_HOLDS(!sides_add_run(&all, "a", s) && !sides_add_run(&all, "b", s));
	FUZZ_HOLDS(!groups_each(&groups, &all) && !groups_compare(&c, &groups));
	diff = facts_diff(&groups);
	FUZZ_HOLDS(diff && !json_array_size(diff));
	comparison_text(f, &c, diff, 80);
	comparison_document(&j, &c, NULL, NULL, diff, NULL, 0);
	json_decref(fuzz_json(j.text, j.used));
	jsonw_done(&j);
	json_decref(diff);
	comparison_done(&c);
	groups_done(&groups);
	sides_done(&all);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct summary total;
	struct source s;
	char path[32], *text;
	int fd = fuzz_file(data, size, path);
	bool is_folded;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	FUZZ_HOLDS(f && !source_open_file(&s, path));
	if (!source_summary(&s, &total, &is_folded)) {
		summary_print(f, &s, &total);
		compare_with_itself(f, &s);
	}
	summary_done(&total);
	fclose(f);
	fuzz_is_inert(text, length);
	free(text);
	source_close(&s);
	close(fd);
	return 0;
}
