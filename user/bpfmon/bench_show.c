// SPDX-License-Identifier: BSD-2-Clause
/* Shows the results of a benchmark: reads its runs from the store, as any others. */
#include "bpfmon/cmd_bench.h"

#include "store/stores.h"
#include "bpfmon/whole_file.h"

#include "base/log.h"
#include "base/memory.h"
#include "study/result.h"
#include "study/words.h"
#include "study/side.h"
#include "text/terminal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct showing {
	const struct bench_options *o;
	const struct bench_plan *p;
	const struct bench_record *record;
	struct stores stores;
	struct source src; /* the store, while it is read */
	struct sides runs;
	struct steps spans; /* of the runs */
};

static bool side_find_turn(const struct showing *s, const struct side *side, size_t *of,
			   size_t *round)
{
	const char *label = side_tag(side, BENCH_CASE_TAG),
		   *number = side_tag(side, BENCH_ROUND_TAG);

	*round = number ? strtoul(number, NULL, 10) : 0;
	for (*of = 0; label && *of < s->p->nr; (*of)++)
		if (!strcmp(s->p->cases[*of].label, label))
			return *round && *round <= s->p->runs;
	return false;
}

static int bench_spans_take(struct showing *s, const char *name)
{
	int err = steps_add_run(&s->spans, s->runs.nr - 1, &s->src);

	if (err)
		log_error("cannot read the spans of run %s: %s", name, source_why(&s->src, err));
	return err;
}

static int bench_run_take(struct showing *s, const struct stored_run *r)
{
	const struct bench_record *record = s->record;
	size_t of = 0, round = 0;
	char name[32];
	int err = stores_switch_run(&s->stores, r, &s->src);

	if (err)
		return err; /* already reported */
	snprintf(name, sizeof(name), "%" PRId64, r->id);
	err = sides_add_run(&s->runs, name, &s->src);
	if (err)
		log_error("cannot read run %s: %s", name, source_why(&s->src, err));
	if (err)
		return err;
	if (side_find_turn(s, &s->runs.list[s->runs.nr - 1], &of, &round) &&
	    record->is_measured[of * s->p->runs + round - 1])
		return bench_spans_take(s, name);
	sides_drop(&s->runs);
	return 0;
}

static int bench_runs_read(struct showing *s)
{
	char tag[sizeof(BENCH_TAG) + sizeof(s->record->id) + 1];
	const char *const tags[] = { tag };
	const struct run_filter f = { .tags = tags, .nr_tags = 1 };
	struct store_options store = { .path = s->record->store };
	struct stored_runs found = { 0 };
	int err = stores_find(&s->stores, &store);

	snprintf(tag, sizeof(tag), "%s=%s", BENCH_TAG, s->record->id);
	if (!err)
		err = stores_query(&s->stores, &f, &found);
	stored_runs_sort(&found, BY_START);
	for (size_t i = found.nr; !err && i-- > 0;)
		err = bench_run_take(s, &found.runs[i]);
	stored_runs_done(&found);
	source_close(&s->src);
	if (!err && s->runs.nr < s->record->nr_measured)
		log_warn("of %zu measured runs, the store has only %zu; the results leave out the "
			 "others",
			 s->record->nr_measured, s->runs.nr);
	if (!err && s->spans.left_out)
		log_warn("%" PRIu64 " spans are left out of the results: there are too many "
			 "different names",
			 s->spans.left_out);
	return err;
}

static int result_put_json(FILE *f, const struct bench_result *r)
{
	struct jsonw j = { 0 };
	int err = bench_write_hyperfine(&j, r);

	if (!err)
		fwrite(j.text, 1, j.used, f);
	jsonw_done(&j);
	return err;
}

static int result_put_csv(FILE *f, const struct bench_result *r)
{
	struct buffer t = { 0 };
	int err = bench_write_csv(&t, r);

	if (!err && t.failed)
		err = -ENOMEM;
	if (!err)
		fwrite(t.text, 1, t.used, f);
	buffer_done(&t);
	return err;
}

static int result_export(const struct bench_result *r, const struct bench_options *o,
			 enum bench_export as)
{
	static int (*const put[NR_BENCH_EXPORTS])(FILE *, const struct bench_result *) = {
		[BENCH_JSON] = result_put_json,
		[BENCH_CSV] = result_put_csv,
		[BENCH_MARKDOWN] = bench_write_markdown,
	};
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);
	int err = f ? put[as](f, r) : -ENOMEM;

	if (f && fclose(f) && !err)
		err = -ENOMEM;
	if (err)
		log_error("out of memory for the results");
	else
		err = whole_file_write("results", o->exports[as], o->force, text, length);
	free(text);
	return err;
}

static int result_export_all(const struct bench_result *r, const struct bench_options *o)
{
	int err = 0;

	for (enum bench_export as = 0; !err && as < NR_BENCH_EXPORTS; as++)
		if (o->exports[as])
			err = result_export(r, o, as);
	return err;
}

void bench_exports_remove(const struct bench_options *o)
{
	for (size_t i = 0; o->force && i < NR_BENCH_EXPORTS; i++)
		if (o->exports[i])
			whole_file_remove(o->exports[i]);
}

/* Returns whether stdout is for results, so that the table goes to stderr. */
static bool exports_use_stdout(const struct bench_options *o)
{
	for (size_t i = 0; i < NR_BENCH_EXPORTS; i++)
		if (o->exports[i] && !strcmp(o->exports[i], "-"))
			return true;
	return false;
}

static int exports_check(struct bench_options *o)
{
	size_t to_stdout = 0;
	int err = 0;

	if (o->json && o->exports[BENCH_JSON] && strcmp(o->exports[BENCH_JSON], "-") != 0) {
		log_error("bench: --json writes to stdout and cannot be combined with "
			  "--export-json FILE");
		return -EINVAL;
	}
	if (o->json)
		o->exports[BENCH_JSON] = "-";
	for (size_t i = 0; !err && i < NR_BENCH_EXPORTS; i++) {
		if (!o->exports[i])
			continue;
		to_stdout += !strcmp(o->exports[i], "-");
		err = whole_file_check("results", o->exports[i], o->force);
	}
	if (!err && to_stdout > 1) {
		log_error("bench: only one format can go to stdout; name files for the others");
		err = -EINVAL;
	}
	return err;
}

int bench_check_outputs(struct bench_options *o, const struct bench_plan *p, struct gates *gates)
{
	int err = gates_parse(gates, &o->fail_if);

	for (size_t i = 0; !err && p->nr == 1 && i < gates->nr_expressions; i++) {
		if (gates->expressions[i].kind == EXPRESSION_VALUE)
			continue;
		log_error("bench: --fail-if '%s' is a difference, and there is only one command; "
			  "name a value without a sign, or give two commands",
			  gates->expressions[i].text);
		err = -EINVAL;
	}
	return err ? err : exports_check(o);
}

/* Differences are those to the first command, not to the fastest. */
static int gates_decide(struct gates *gates, const struct bench_plan *p, const struct sides *runs)
{
	const struct side *without;
	struct comparison c = { 0 };
	struct groups groups;
	int err;

	if (!gates->nr_expressions)
		return 0;
	err = groups_by_tag(&groups, runs, BENCH_CASE_TAG, &without);
	if (!err && groups_baseline(&groups, p->cases[0].label)) {
		log_error("bench: --fail-if cannot be decided: the first command was not run");
		err = -ENODATA;
	} else if (!err) {
		err = groups_compare(&c, &groups);
	}
	if (err && err != -ENODATA)
		log_error("out of memory for --fail-if");
	if (!err)
		err = gates_evaluate(gates, &c, NULL, false, 0);
	if (!err)
		gates_report(gates, &c);
	comparison_done(&c);
	groups_done(&groups);
	return err;
}

/* With --ignore-failure, a command that fails at once may be the fastest. */
static void case_failures_warn(const struct group *g, size_t code, size_t sig)
{
	const char *how[] = { "ended with", "was killed by signal" },
		   *all[] = { "ended with", "were killed by signal" };
	double number = 0;
	bool is_killed = false, is_same = true;
	size_t nr = 0;

	for (size_t i = 0; i < g->nr; i++) {
		const double *v = g->sides[i]->value;
		bool killed = v[sig] > 0;
		double by = killed ? v[sig] : v[code];

		if (!(by > 0))
			continue;
		is_same = !nr || (is_same && killed == is_killed && by == number);
		if (!nr++) {
			is_killed = killed;
			number = by;
		}
	}
	if (nr && is_same)
		log_warn("%zu of %zu runs of '%s' %s %.0f", nr, g->nr, g->name,
			 nr > 1 ? all[is_killed] : how[is_killed], number);
	else if (nr)
		log_warn("%zu of %zu runs of '%s' failed, one %s %.0f", nr, g->nr, g->name,
			 how[is_killed], number);
}

static void failures_warn(const struct bench_result *r)
{
	size_t code, sig;

	if (run_key_find("exit_code", 9, &code) || run_key_find("signal", 6, &sig))
		return;
	for (size_t i = 0; i < r->plan->nr; i++) {
		const struct group *g = bench_group(r, i);

		if (g)
			case_failures_warn(g, code, sig);
	}
}

static void hint_print(FILE *f, const struct showing *s)
{
	const char *words[] = { s->o->recording.store.path, NULL };
	char *store = words[0] ? words_quote((char *const *)words) : NULL;

	fprintf(f, "  kept as benchmark %s", s->record->id);
	if (s->p->nr > 1 && !s->p->is_sequential)
		fprintf(f, ", random order (--seed %" PRIu64 ")", s->p->seed);
	fputs(": ", f);
	if (s->p->nr > 1)
		fprintf(f, "bpfmon compare --tag %s=%s --by %s", BENCH_TAG, s->record->id,
			BENCH_CASE_TAG);
	else
		fprintf(f, "bpfmon list --tag %s=%s", BENCH_TAG, s->record->id);
	if (store)
		fprintf(f, " --store %s", store);
	if (s->p->nr > 1 && s->spans.nr)
		fputs("\n  span by span: the same with --by span", f);
	fputc('\n', f);
	free(store);
}

static int result_print(const struct showing *s, const struct bench_result *r)
{
	FILE *f = exports_use_stdout(s->o) ? stderr : stdout;
	int err = bench_text(f, r, terminal_width(f));

	if (err) {
		log_error("out of memory for the tables");
		return err;
	}
	if (s->p->is_sequential && s->p->nr > 1)
		fprintf(f,
			"  Not in random order%s: the differences include any change of the "
			"machine over time.\n",
			s->o->sequence == SEQUENCE_BY_SETUP ? ", because of --setup" : "");
	hint_print(f, s);
	return 0;
}

int bench_show(const struct bench_options *o, const struct bench_plan *p,
	       const struct bench_record *record, struct gates *gates)
{
	struct showing s = { .o = o, .p = p, .record = record, .spans = { .kind = STEP_SPAN } };
	struct bench_result r = { 0 };
	int err = record->nr_measured ? bench_runs_read(&s) : 0;

	if (!err && !s.runs.nr) {
		log_error("nothing was measured");
		err = -ENOENT;
	}
	if (!err) {
		err = bench_result_make(&r, p, &s.runs);
		if (err)
			log_error("cannot compare the runs: %s", strerror(-err));
	}
	r.spans = &s.spans;
	if (!err)
		err = result_print(&s, &r);
	if (!err)
		failures_warn(&r);
	if (!err)
		err = result_export_all(&r, o);
	if (!err)
		err = gates_decide(gates, p, &s.runs);
	bench_result_done(&r);
	steps_done(&s.spans);
	sides_done(&s.runs);
	stores_done(&s.stores);
	return err;
}
