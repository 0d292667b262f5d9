// SPDX-License-Identifier: BSD-2-Clause
#include "cmd/compare_outcomes.h"

#include "base/log.h"
#include "view/format.h"
#include "view/terminal.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define NAME_COLUMNS 60

int outcomes_parse(struct outcomes *x, const struct compare_options *o)
{
	char why[200];

	*x = (struct outcomes){ 0 };
	for (size_t i = 0; i < o->nr_fail_if; i++) {
		if (!expression_parse(&x->expressions[i], o->fail_if[i], why, sizeof(why)))
			continue;
		log_error("--fail-if does not take '%s': %s", o->fail_if[i], why);
		return -EINVAL;
	}
	return 0;
}

/* Names of runs are untrusted: they are printed through format_name(). */
static void outcome_report_unknown(const struct expression *e, const struct comparison *c,
				   size_t group, int err)
{
	size_t lacks = spread_of(c, group, e->key)->nr ? 0 : group;

	fprintf(stderr, "bpfmon: --fail-if '%s' cannot be decided: ", e->text);
	if (err == -ENOENT) {
		format_name(stderr, c->groups->list[lacks].name, NAME_COLUMNS);
		fprintf(stderr, " has no %s\n", compare_key(e->key).name);
	} else {
		fprintf(stderr,
			"%zu and %zu runs are too few to tell a change from noise; 4 in each of "
			"two "
			"groups are enough\n",
			spread_of(c, 0, e->key)->nr, spread_of(c, group, e->key)->nr);
	}
}

static int outcome_evaluate(struct outcomes *x, const struct compare_options *o,
			    const struct expression *e, const struct comparison *c, size_t group,
			    const struct step *step)
{
	struct outcome *one = &x->list[x->nr];
	int err;

	*one = (struct outcome){ .expression = e, .group = group, .step = step };
	err = expression_holds(e, c, group, o->significant, &one->holds);
	if (err)
		return err;
	x->has_failed |= one->holds;
	x->nr++;
	return 0;
}

/* Of the steps that decide it; if none does, that is an error, not a pass. */
static int outcomes_evaluate_steps(struct outcomes *x, const struct compare_options *o,
				   const struct expression *e, const struct comparison *c,
				   size_t group, const struct steps *steps)
{
	size_t before = x->nr;
	bool is_few = false;

	for (size_t i = 0; i < steps->nr; i++)
		is_few |= outcome_evaluate(x, o, e, &steps->list[i].comparison, group,
					   &steps->list[i]) == -ERANGE;
	if (x->nr > before)
		return 0;
	fprintf(stderr, "bpfmon: --fail-if '%s' cannot be decided: ", e->text);
	if (is_few) {
		fputs("the runs are too few to tell a change from noise; 4 in each of two groups "
		      "are enough\n",
		      stderr);
		return -ERANGE;
	}
	fprintf(stderr, "there is no %s of the same name with this value in ",
		step_kind_name(steps->kind));
	format_name(stderr, c->groups->list[0].name, NAME_COLUMNS);
	fputs(" and ", stderr);
	format_name(stderr, c->groups->list[group].name, NAME_COLUMNS);
	fputc('\n', stderr);
	return -ENOENT;
}

int outcomes_evaluate(struct outcomes *x, const struct compare_options *o,
		      const struct comparison *c, const struct steps *steps)
{
	size_t others = c->groups->nr - 1, of_each = steps ? steps->nr : 1;
	int err = 0;

	x->list = calloc(o->nr_fail_if * others * of_each + 1, sizeof(*x->list));
	if (!x->list) {
		log_error("out of memory for %zu groups", c->groups->nr);
		return -ENOMEM;
	}
	for (size_t i = 0; !err && i < o->nr_fail_if * others; i++) {
		const struct expression *e = &x->expressions[i / others];
		size_t group = i % others + 1;

		if (steps) {
			err = outcomes_evaluate_steps(x, o, e, c, group, steps);
			continue;
		}
		err = outcome_evaluate(x, o, e, c, group, NULL);
		if (err)
			outcome_report_unknown(e, c, group, err);
	}
	return err;
}

void outcomes_print_failed(FILE *f, const char *before, const struct outcomes *x,
			   const struct comparison *c)
{
	for (size_t i = 0; i < x->nr; i++) {
		const struct outcome *one = &x->list[i];

		if (!one->holds)
			continue;
		terminal_begin_alarm(f);
		fputs(before, f);
		terminal_end_alarm(f);
		if (c->groups->nr > 2) {
			format_name(f, c->groups->list[one->group].name, NAME_COLUMNS);
			fputs(": ", f);
		}
		if (one->step) {
			format_name(f, one->step->name, NAME_COLUMNS);
			fputs(": ", f);
		}
		expression_write(f, one->expression, one->step ? &one->step->comparison : c,
				 one->group);
		fputc('\n', f);
	}
}

void outcomes_done(struct outcomes *x)
{
	free(x->list);
	*x = (struct outcomes){ 0 };
}
