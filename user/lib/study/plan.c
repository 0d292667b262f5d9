// SPDX-License-Identifier: BSD-2-Clause
#include "study/plan.h"

#include "study/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void case_done(struct bench_case *c)
{
	for (size_t i = 0; i < NR_BENCH_STEPS; i++)
		free(c->steps[i]);
	words_free(c->argv);
	free(c->values);
	free(c->command);
	free(c->label);
}

void bench_plan_done(struct bench_plan *p)
{
	for (size_t i = 0; i < p->nr; i++)
		case_done(&p->cases[i]);
	free(p->cases);
	parameters_done(&p->parameters);
	*p = (struct bench_plan){ 0 };
}

/* The words as they are, each with its parameters. */
static char **argv_put(const struct bench_plan *p, const struct bench_case *c, char *const *argv)
{
	char **words = words_copy(argv);

	for (size_t i = 0; words && words[i]; i++) {
		char *word = parameters_put(&p->parameters, c->values, words[i]);

		if (!word) {
			words_free(words);
			return NULL;
		}
		free(words[i]);
		words[i] = word;
	}
	return words;
}

static int case_make_command(const struct bench_plan *p, struct bench_case *c,
			     const struct bench_commands *from, size_t nr)
{
	if (from->argv) {
		c->argv = argv_put(p, c, from->argv);
		c->command = c->argv ? words_quote(c->argv) : NULL;
	} else {
		c->command = parameters_put(&p->parameters, c->values, from->commands[nr]);
		if (c->command)
			c->argv = from->shell ? words_by_shell(from->shell, c->command)
					      : words_split(c->command);
		if (c->command && !c->argv)
			return errno == EINVAL ? -EINVAL : -ENOMEM;
	}
	return c->argv && c->command ? 0 : -ENOMEM;
}

/* "threads=2,mode=fast" of a single command, else the command. */
static char *label_make(const struct bench_plan *p, const struct bench_case *c, bool is_only)
{
	char *text = NULL;
	size_t room;
	FILE *f;

	if (!is_only || !p->parameters.nr)
		return strdup(c->command);
	f = open_memstream(&text, &room);
	for (size_t i = 0; f && i < p->parameters.nr; i++)
		fprintf(f, "%s%s=%s", i ? "," : "", p->parameters.list[i].name, c->values[i]);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

static const struct bench_case *label_find(const struct bench_plan *p, const char *label)
{
	for (size_t i = 0; i < p->nr; i++)
		if (!strcmp(p->cases[i].label, label))
			return &p->cases[i];
	return NULL;
}

static int case_make_label(const struct bench_plan *p, struct bench_case *c, bool is_only)
{
	char *plain = label_make(p, c, is_only);

	c->label = plain ? strdup(plain) : NULL;
	for (unsigned i = 2; c->label && label_find(p, c->label); i++) {
		free(c->label);
		if (asprintf(&c->label, "%s #%u", plain, i) < 0)
			c->label = NULL;
	}
	free(plain);
	return c->label ? 0 : -ENOMEM;
}

/* Parameter i has its value number (at / (the product of those before)) % its own. */
static int case_make_values(const struct bench_plan *p, struct bench_case *c, size_t at)
{
	c->values = calloc(p->parameters.nr + 1, sizeof(*c->values));
	for (size_t i = 0; c->values && i < p->parameters.nr; i++) {
		const struct parameter *one = &p->parameters.list[i];

		c->values[i] = one->values[at % one->nr];
		at /= one->nr;
	}
	return c->values ? 0 : -ENOMEM;
}

static int case_make_steps(const struct bench_plan *p, struct bench_case *c,
			   const struct bench_commands *from, size_t nr)
{
	for (size_t i = 0; i < NR_BENCH_STEPS; i++) {
		if (!from->nr_steps[i])
			continue;
		c->steps[i] = parameters_put(&p->parameters, c->values,
					     from->steps[i][from->nr_steps[i] == 1 ? 0 : nr]);
		if (!c->steps[i])
			return -ENOMEM;
	}
	return 0;
}

static int plan_add_case(struct bench_plan *p, const struct bench_commands *from, size_t nr,
			 size_t at)
{
	struct bench_case *c = &p->cases[p->nr];
	int err = case_make_values(p, c, at);

	if (!err)
		err = case_make_command(p, c, from, nr);
	if (!err)
		err = case_make_label(p, c, from->argv || from->nr == 1);
	if (!err)
		err = case_make_steps(p, c, from, nr);
	if (err)
		case_done(c);
	else
		p->nr++;
	return err;
}

/* How many combinations of values there are; 0: too many. */
static size_t combinations_count(const struct parameters *p)
{
	size_t n = 1;

	for (size_t i = 0; i < p->nr && n; i++)
		n = n * p->list[i].nr <= MAX_BENCH_CASES ? n * p->list[i].nr : 0;
	return n;
}

int bench_plan_make(struct bench_plan *p, const struct bench_commands *c)
{
	size_t combinations = combinations_count(&p->parameters), commands = c->argv ? 1 : c->nr;
	int err = 0;

	if (!combinations || combinations * commands > MAX_BENCH_CASES)
		return -E2BIG;
	p->cases = calloc(combinations * commands + 1, sizeof(*p->cases));
	if (!p->cases)
		return -ENOMEM;
	for (size_t at = 0; !err && at < combinations; at++)
		for (size_t nr = 0; !err && nr < commands; nr++)
			err = plan_add_case(p, c, nr, at);
	return err;
}
