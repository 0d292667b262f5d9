// SPDX-License-Identifier: BSD-2-Clause
/* What a benchmark does not take, said before anything is run. */
#include "bpfmon/cmd_bench.h"

#include "base/log.h"
#include "base/text.h"
#include "study/result.h"
#include "options/options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* No option: that would be one which is always refused. --store undoes it, as for other runs. */
int bench_check_store(char *const *words)
{
	const char *off = getenv("BPFMON_NO_STORE");

	if (!off || !*off || !strcmp(off, "0"))
		return 0;
	for (; *words; words++)
		if (!strcmp(*words, "--store") || !strncmp(*words, "--store=", 8))
			return 0;
	log_error("bench: BPFMON_NO_STORE is set, and a benchmark reads its runs from the store; "
		  "unset it, or name a file with --store");
	return -EINVAL;
}

static bool tags_have(const struct run_tags *tags, const char *key)
{
	const size_t n = strlen(key);

	for (size_t i = 0; i < tags->nr; i++)
		if (!strncmp(tags->list[i], key, n) && tags->list[i][n] == '=')
			return true;
	return false;
}

/* Parameters are tags of the runs, and the keys of a run's tags are unique. */
static int parameter_names_check(const struct run_tags *tags, const struct parameters *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		const char *name = p->list[i].name;

		if (!tags_have(tags, name))
			continue;
		log_error("bench: '%s' is the name of a parameter, which is a tag of each run, and "
			  "of another tag (--tag, BPFMON_TAG_%s); rename one of them",
			  name, name);
		return -EINVAL;
	}
	return 0;
}

/* Tags of the benchmark's own: with another of that name its runs would not be found. */
int bench_check_tags(const struct bench_options *o, const struct parameters *p)
{
	static const char *const own[] = { BENCH_TAG, BENCH_CASE_TAG, BENCH_ROUND_TAG,
					   BENCH_SEED_TAG };
	const size_t nr_own = sizeof(own) / sizeof(*own);
	const struct run_tags *tags = &o->recording.tags;

	for (size_t k = 0; k < nr_own; k++) {
		for (size_t i = 0; i < p->nr; i++)
			if (!strcmp(p->list[i].name, own[k]))
				return options_refuse("bench: a parameter cannot be called",
						      own[k]);
		if (tags_have(tags, own[k]))
			return options_refuse("bench: each run has another value of the tag",
					      own[k]);
	}
	if (nr_own + p->nr + tags->nr > MAX_TAGS) {
		log_error("bench: a run has %d tags at most; %zu are the benchmark's, %zu "
			  "parameters and %zu others; leave out some of these",
			  MAX_TAGS, nr_own, p->nr, tags->nr);
		return -EINVAL;
	}
	return parameter_names_check(tags, p);
}

static int utf8_check(const char *what, const char *text)
{
	uint32_t character;
	size_t n;

	for (const char *at = text; *at; at += n) {
		n = utf8_decode(at, strlen(at), &character);
		if (n)
			continue;
		log_error("bench: the %s '%s' is not UTF-8, and no run of it could be stored; "
			  "put what is not UTF-8 into a script",
			  what, text);
		return -EINVAL;
	}
	return 0;
}

/* They are tags of the runs, by which these are found. */
int bench_check_cases(const struct bench_plan *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < p->parameters.nr; i++)
		err = utf8_check("parameter", p->parameters.list[i].name);
	for (size_t i = 0; !err && i < p->nr; i++) {
		const struct bench_case *c = &p->cases[i];

		for (size_t k = 0; !err && k < p->parameters.nr; k++)
			err = utf8_check("value", c->values[k]);
		if (!err)
			err = utf8_check("command", c->command);
	}
	return err;
}

static int steps_check(const struct bench_options *o, size_t nr_commands)
{
	static const char *const names[] = {
		[BENCH_SETUP] = "setup",
		[BENCH_PREPARE] = "prepare",
		[BENCH_CONCLUDE] = "conclude",
		[BENCH_CLEANUP] = "cleanup",
	};

	for (size_t i = 0; i < NR_BENCH_STEPS; i++) {
		if (o->nr_steps[i] <= 1 || o->nr_steps[i] == nr_commands)
			continue;
		log_error("bench: there are %zu commands and %zu of --%s; give it once, or once "
			  "for each command",
			  nr_commands, o->nr_steps[i], names[i]);
		return -EINVAL;
	}
	return 0;
}

size_t bench_words_count(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

int bench_check_commands(const struct bench_options *o)
{
	size_t words = bench_words_count(o->common.words);

	if (o->command && words) {
		log_error("bench: '%s' is before --, and the words behind -- are the only command; "
			  "without --, give each command as one word",
			  o->common.words[0]);
		return -EINVAL;
	}
	if (bench_words_count(o->command) + words == 0) {
		log_error("bench: no command was given; try: bpfmon bench 'sleep 0.1' 'sleep 0.2', "
			  "or: bpfmon bench -- sleep 0.1");
		return -EINVAL;
	}
	if (words > MAX_BENCH_COMMANDS) {
		log_error("bench: there are more than %d commands", MAX_BENCH_COMMANDS);
		return -EINVAL;
	}
	return steps_check(o, words ? words : 1);
}
