// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/gates.h"

#include "base/log.h"
#include "base/memory.h"
#include "text/format.h"
#include "text/markdown.h"
#include "text/terminal.h"

#include <errno.h>
#include <stdlib.h>

#define NAME_COLUMNS 60

int fail_if_parse(void *fail_if, const char *text)
{
	struct fail_if *texts = fail_if;

	if (texts->nr == MAX_FAIL_IF)
		return -EINVAL;
	texts->text[texts->nr++] = text;
	return 0;
}

int gates_parse(struct gates *x, const struct fail_if *texts)
{
	char why[200];

	*x = (struct gates){ .nr_expressions = texts->nr };
	for (size_t i = 0; i < texts->nr; i++) {
		if (!expression_parse(&x->expressions[i], texts->text[i], why, sizeof(why)))
			continue;
		log_error("--fail-if does not accept '%s': %s", texts->text[i], why);
		return -EINVAL;
	}
	return 0;
}

/* Run names are untrusted: print them through format_name(). */
static void gate_report_unknown(const struct expression *e, const struct comparison *c,
				size_t group, int err)
{
	size_t lacks = spread_of(c, group, e->key)->nr ? 0 : group;

	fprintf(stderr, "bpfmon: --fail-if '%s' cannot be decided: ", e->text);
	if (err == -ENOENT) {
		format_name(stderr, c->groups->list[lacks].name, NAME_COLUMNS);
		fprintf(stderr, " has no %s\n", run_key(e->key).name);
	} else {
		fprintf(stderr,
			"%zu and %zu runs are too few to tell a change from noise; 4 in each of "
			"two groups are enough\n",
			spread_of(c, 0, e->key)->nr, spread_of(c, group, e->key)->nr);
	}
}

static int gate_evaluate(struct gates *x, const struct expression *e, const struct comparison *c,
			 size_t group, const struct step *step, bool is_strict)
{
	struct outcome *one = &x->list[x->nr];
	int err;

	*one = (struct outcome){ .expression = e, .group = group, .step = step };
	err = expression_judge(e, c, group, is_strict, &one->judgement);
	if (err)
		return err;
	x->has_failed |= one->judgement.holds;
	x->nr++;
	return 0;
}

/*
 * Evaluates the expression for each step that has the value. If none does, that is an error, not a
 * pass.
 */
static int gates_evaluate_steps(struct gates *x, const struct expression *e,
				const struct comparison *c, size_t group, const struct steps *steps,
				bool is_strict)
{
	size_t before = x->nr;
	bool is_few = false;

	for (size_t i = 0; i < steps->nr; i++)
		is_few |= gate_evaluate(x, e, &steps->list[i].comparison, group, &steps->list[i],
					is_strict) == -ERANGE;
	if (x->nr > before)
		return 0;
	fprintf(stderr, "bpfmon: --fail-if '%s' cannot be decided: ", e->text);
	if (is_few) {
		fputs("the runs are too few to tell a change from noise; 4 in each of two groups "
		      "are enough\n",
		      stderr);
		return -ERANGE;
	}
	fprintf(stderr, "no %s of the same name has this value in both ",
		step_kind_name(steps->kind));
	format_name(stderr, c->groups->list[0].name, NAME_COLUMNS);
	fputs(" and ", stderr);
	format_name(stderr, c->groups->list[group].name, NAME_COLUMNS);
	fputc('\n', stderr);
	return -ENOENT;
}

static int gates_evaluate_group(struct gates *x, const struct expression *e,
				const struct comparison *c, size_t group, const struct steps *steps,
				bool is_strict)
{
	int err;

	if (!group && e->kind != EXPRESSION_VALUE)
		return 0;
	if (steps)
		return gates_evaluate_steps(x, e, c, group, steps, is_strict);
	err = gate_evaluate(x, e, c, group, NULL, is_strict);
	if (err)
		gate_report_unknown(e, c, group, err);
	return err;
}

int gates_evaluate(struct gates *x, const struct comparison *c, const struct steps *steps,
		   bool is_strict, size_t first)
{
	size_t of_each = steps ? steps->nr : 1;
	int err = 0;

	x->has_first = !first;
	x->list = memory_calloc(x->nr_expressions * c->groups->nr * of_each + 1, sizeof(*x->list));
	if (!x->list) {
		log_error("out of memory for %zu groups", c->groups->nr);
		return -ENOMEM;
	}
	for (size_t i = 0; !err && i < x->nr_expressions; i++)
		for (size_t group = first; !err && group < c->groups->nr; group++)
			err = gates_evaluate_group(x, &x->expressions[i], c, group, steps,
						   is_strict);
	return err;
}

static const struct comparison *outcome_comparison(const struct outcome *one,
						   const struct comparison *c)
{
	return one->step ? &one->step->comparison : c;
}

void gates_report(const struct gates *x, const struct comparison *c)
{
	for (size_t i = 0; i < x->nr; i++) {
		const struct outcome *one = &x->list[i];

		if (!one->judgement.is_beyond)
			continue;
		if (one->judgement.holds)
			terminal_begin_alarm(stderr);
		fputs(one->judgement.holds ? "bpfmon: failed: " : "bpfmon: passed: ", stderr);
		if (one->judgement.holds)
			terminal_end_alarm(stderr);
		if (c->groups->nr > 2 || (x->has_first && c->groups->nr > 1)) {
			format_name(stderr, c->groups->list[one->group].name, NAME_COLUMNS);
			fputs(": ", stderr);
		}
		if (one->step) {
			format_name(stderr, one->step->name, NAME_COLUMNS);
			fputs(": ", stderr);
		}
		expression_write(stderr, one->expression, &one->judgement,
				 outcome_comparison(one, c), one->group);
		fputc('\n', stderr);
	}
}

static void outcome_markdown(FILE *f, const struct outcome *one, const struct comparison *c)
{
	char *text = NULL;
	size_t length;
	FILE *made;

	fputs("| ", f);
	markdown_code(f, one->expression->text, NAME_COLUMNS, true);
	fprintf(f, " | %s | ", one->judgement.holds ? "**fail**" : "pass");
	if (c->groups->nr > 2) {
		markdown_text(f, c->groups->list[one->group].title);
		fputs(": ", f);
	}
	if (one->step) {
		markdown_code(f, one->step->name, NAME_COLUMNS, true);
		fputs(": ", f);
	}
	made = memory_open_memstream(&text, &length);
	if (!made)
		return;
	c = outcome_comparison(one, c);
	expression_write_measured(made, one->expression, c, one->group);
	judgement_write_noise(made, &one->judgement, one->expression, c, one->group);
	if (!fclose(made))
		markdown_text(f, text);
	free(text);
	fputs(" |\n", f);
}

/* A gate that all steps pass has one row. */
static void passed_steps_markdown(FILE *f, const struct gates *x, const struct expression *e)
{
	size_t passed = 0, others = 0;

	for (size_t i = 0; i < x->nr; i++)
		if (x->list[i].expression == e) {
			passed += !x->list[i].judgement.is_beyond;
			others += x->list[i].judgement.is_beyond;
		}
	if (!passed || others)
		return;
	fputs("| ", f);
	markdown_code(f, e->text, NAME_COLUMNS, true);
	fprintf(f, " | pass | all of %zu |\n", passed);
}

void gates_markdown(FILE *f, const struct gates *x, const struct comparison *c)
{
	static const char *const titles[] = { "gate", "result", "measured" };

	if (!x->nr)
		return;
	markdown_head(f, titles, 3);
	for (size_t i = 0; i < x->nr; i++)
		if (!x->list[i].step || x->list[i].judgement.is_beyond)
			outcome_markdown(f, &x->list[i], c);
	for (size_t i = 0; x->list[0].step && i < x->nr_expressions; i++)
		passed_steps_markdown(f, x, &x->expressions[i]);
}

void gates_done(struct gates *x)
{
	free(x->list);
	*x = (struct gates){ 0 };
}
