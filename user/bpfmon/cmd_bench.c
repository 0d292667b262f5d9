// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon bench: runs commands many times, and compares them. */
#include "bpfmon/cmd_bench.h"

#include "base/memory.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/text.h"
#include "bpfmon/prepare.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/subcommands.h"
#include "options/option_values.h"
#include "options/options.h"
#include "study/result.h"
#include "study/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#define EXIT_COMMAND_FAILED 1
#define DEFAULT_RUNS 10
#define MAX_RUNS 2000 /* per case: each run's ratio to each other run is computed */

static int runs_parse(void *runs, const char *text)
{
	return number_parse(text, 1, MAX_RUNS, runs);
}

static int warmups_parse(void *warmups, const char *text)
{
	return number_parse(text, 0, MAX_RUNS, warmups);
}

static int seed_parse(void *options, const char *text)
{
	struct bench_options *o = options;

	o->has_seed = true;
	return number_parse(text, 0, UINT32_MAX, &o->seed);
}

static int parameter_add(struct bench_options *o, const char *text, bool is_scan)
{
	if (o->nr_parameters == MAX_PARAMETERS)
		return value_refuse("at most %d parameters", MAX_PARAMETERS);
	o->parameters[o->nr_parameters++] = (struct given_parameter){ text, is_scan };
	return 0;
}

static int parameter_list_parse(void *options, const char *text)
{
	return parameter_add(options, text, false);
}

static int parameter_scan_parse(void *options, const char *text)
{
	return parameter_add(options, text, true);
}

static int step_add(struct bench_options *o, enum bench_step step, size_t most, const char *text)
{
	if (!*text)
		return value_refuse("a command");
	if (o->nr_steps[step] == most)
		return value_refuse("at most %zu command%s", most, most == 1 ? "" : "s");
	o->steps[step][o->nr_steps[step]++] = text;
	return 0;
}

static int setup_parse(void *options, const char *text)
{
	return step_add(options, BENCH_SETUP, 1, text);
}

static int prepare_parse(void *options, const char *text)
{
	return step_add(options, BENCH_PREPARE, MAX_BENCH_COMMANDS, text);
}

static int conclude_parse(void *options, const char *text)
{
	return step_add(options, BENCH_CONCLUDE, MAX_BENCH_COMMANDS, text);
}

static int cleanup_parse(void *options, const char *text)
{
	return step_add(options, BENCH_CLEANUP, 1, text);
}

/* Parses a program with optional arguments. */
static int shell_parse(void *shell, const char *text)
{
	char **words = words_split(text);

	if (!words)
		return value_refuse("a program, or none");
	words_free(words);
	return text_parse(shell, text);
}

static int sequence_parse(void *sequence, const char *text)
{
	static const char *const words[] = {
		[SEQUENCE_BY_SETUP] = "auto",
		[SEQUENCE_MIXED] = "mixed",
		[SEQUENCE_BLOCKS] = "blocks",
	};
	int at = word_find(words, sizeof(words) / sizeof(*words), text);

	if (at < 0)
		return at;
	*(enum bench_sequence *)sequence = (enum bench_sequence)at;
	return 0;
}

/* clang-format off */
#define AT(field) offsetof(struct bench_options, field)

static const struct option_row bench_rows[] = {
	{ "runs", 'n', "N", false, "How often each command is run, 1 to 2000 (default 10)", runs_parse, AT(runs), GUARD_NONE },
	{ "repeat", 'r', "N", false, "The same as --runs: hyperfine's letter for it", runs_parse, AT(runs), GUARD_NONE },
	{ "warmup", 'w', "N", false, "Warm-up runs of each command, not counted (0 to 2000, default 0)", warmups_parse, AT(warmups), GUARD_NONE },
	{ "parameter-list", 'L', "X LIST", false, "{X} stands for each of LIST, as in -L threads 1,2,4", parameter_list_parse, 0, GUARD_NONE },
	{ "parameter-scan", 'P', "X A B", false, "{X} stands for each number from A to B", parameter_scan_parse, 0, GUARD_NONE },
	{ "parameter-step-size", 'D', "N", false, "The step between these numbers (default 1)", text_parse, AT(scan_step), GUARD_NONE },
	{ "setup", 's', "CMD", false, "Execute this before the first run of each command", setup_parse, 0, GUARD_ENVIRONMENT },
	{ "prepare", 'p', "CMD", false, "Execute this before each run; give one, or one for each command", prepare_parse, 0, GUARD_ENVIRONMENT },
	{ "conclude", 'C', "CMD", false, "Execute this after each run; give one, or one for each command", conclude_parse, 0, GUARD_ENVIRONMENT },
	{ "cleanup", 'c', "CMD", false, "Execute this after the last run of each command", cleanup_parse, 0, GUARD_ENVIRONMENT },
	{ "ignore-failure", 'i', NULL, false, "Go on when a command fails", flag_parse, AT(ignore_failure), GUARD_NONE },
	{ "shell", 'S', "SHELL", false, "Execute commands by this shell (default sh); none: without", shell_parse, AT(shell), GUARD_ENVIRONMENT },
	{ "no-shell", 'N', NULL, false, "The same as --shell none", flag_parse, AT(no_shell), GUARD_NONE },
	{ "show-output", 0, NULL, false, "Show what commands print (default: it goes to /dev/null)", flag_parse, AT(show_output), GUARD_NONE },
	{ "order", 0, "ORDER", false, "mixed at random (default), or blocks: one after another", sequence_parse, AT(sequence), GUARD_NONE },
	{ "seed", 0, "N", false, "Seed of the random order: the same seed gives the same order", seed_parse, 0, GUARD_NONE },
	{ "export-json", 0, "FILE", false, "Write the results to FILE, as hyperfine does (-: stdout)", text_parse, AT(exports[BENCH_JSON]), GUARD_ENVIRONMENT },
	{ "export-csv", 0, "FILE", false, "Write the results as CSV, as hyperfine does", text_parse, AT(exports[BENCH_CSV]), GUARD_ENVIRONMENT },
	{ "export-markdown", 0, "FILE", false, "Write the results as a Markdown table", text_parse, AT(exports[BENCH_MARKDOWN]), GUARD_ENVIRONMENT },
	{ "json", 0, NULL, false, "The same as --export-json -", flag_parse, AT(json), GUARD_NONE },
	{ "fail-if", 0, "EXPRESSION", false, "Exit 1 if it holds: 'wall_seconds > +5%'; may be repeated", fail_if_parse, AT(fail_if), GUARD_NONE },
	{ 0 }
};
#undef AT

#define AT(field) offsetof(struct bench_options, recording.field)
static const struct option_row bench_recording_rows[] = {
	{ "interval", 0, "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", interval_parse, AT(interval_ns), GUARD_NONE },
	{ "net", 0, NULL, false, "Count socket traffic and TCP connections", flag_parse, AT(net), GUARD_NONE },
	{ "io-kinds", 0, NULL, false, "Split read and written bytes: files, sockets, pipes, others", flag_parse, AT(io_kinds), GUARD_NONE },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", flag_parse, AT(no_args), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Report what is loaded, what is missing, and output paths", flag_parse, AT(verbose), GUARD_NONE },
	{ "agent", 0, "SOCKET", false, "Use the agent at SOCKET, even if bpfmon could measure directly", text_parse, AT(agent), GUARD_ENVIRONMENT },
	{ 0 }
};
/* clang-format on */

static const struct option_group bench_groups[] = {
	{ bench_rows, 0, false },
	{ force_rows, offsetof(struct bench_options, force), false },
	{ naming_rows, offsetof(struct bench_options, recording), true },
	{ bench_recording_rows, 0, true },
	{ store_rows, offsetof(struct bench_options, recording.store), true },
	{ colour_rows, offsetof(struct bench_options, common), true },
	{ common_rows, offsetof(struct bench_options, common), false },
	{ 0 },
};

static void bench_help(void)
{
	puts("Usage: bpfmon bench [OPTIONS] 'COMMAND'...\n"
	     "       bpfmon bench [OPTIONS] -- COMMAND [ARG...]\n\n"
	     "Run each command many times, in turns, and compare time, CPU, memory, I/O and "
	     "spans.\n"
	     "Each word before -- is a command for the shell; the words after -- are one command\n"
	     "without a shell. Each run is stored, as by bpfmon --.\n");
	options_print(&subcommand_bench);
	puts("\nEXPRESSION is that of `bpfmon compare`: a difference to the first command, which "
	     "fails\n"
	     "unless it may be noise, or a value of any command. If the benchmark fails, files "
	     "that\n"
	     "--force would have replaced are removed.\n\n"
	     "Exit status: 0; 1 a command failed, or an expression of --fail-if holds; 2 usage, "
	     "not\n"
	     "permitted.");
}

static int parameters_make(const struct bench_options *o, struct parameters *p)
{
	int err = 0;

	for (size_t i = 0; !err && i < o->nr_parameters; i++) {
		const struct given_parameter *g = &o->parameters[i];

		err = g->is_scan ? parameters_add_scan(p, g->text, o->scan_step)
				 : parameters_add_list(p, g->text);
		if (err == -E2BIG)
			log_error("bench: '%s' has more than %d values", g->text,
				  MAX_PARAMETER_VALUES);
		else if (err == -EINVAL && g->is_scan)
			log_error("bench: --parameter-scan does not accept '%s'; it takes a name "
				  "that no other parameter has, and two numbers: -P size 1 8; the "
				  "step of -D is more than 0",
				  g->text);
		else if (err == -EINVAL)
			log_error("bench: --parameter-list does not accept '%s'; it takes a name "
				  "that no other parameter has, and values: -L threads 1,2,4",
				  g->text);
	}
	return err;
}

static const char *bench_shell(const struct bench_options *o)
{
	if (o->no_shell || (o->shell && !strcmp(o->shell, "none")))
		return NULL;
	return o->shell ? o->shell : "sh";
}

static bool tags_have(const struct run_tags *tags, const char *key)
{
	const size_t n = strlen(key);

	for (size_t i = 0; i < tags->nr; i++)
		if (!strncmp(tags->list[i], key, n) && tags->list[i][n] == '=')
			return true;
	return false;
}

/* Parameters become tags of the runs, whose keys must be unique. */
static int parameter_names_check(const struct run_tags *tags, const struct parameters *p)
{
	for (size_t i = 0; i < p->nr; i++) {
		const char *name = p->list[i].name;

		if (!tags_have(tags, name))
			continue;
		log_error("bench: parameter '%s' becomes a tag of each run, but --tag or "
			  "BPFMON_TAG_%s sets that tag; rename one of them",
			  name, name);
		return -EINVAL;
	}
	return 0;
}

/* The benchmark finds its runs by its own tags, which must not be replaced. */
static int bench_check_tags(const struct bench_options *o, const struct parameters *p)
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
			return options_refuse("bench: the benchmark itself sets the tag", own[k]);
	}
	if (nr_own + p->nr + tags->nr > MAX_TAGS) {
		log_error("bench: a run has at most %d tags; %zu are the benchmark's, %zu "
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

/* @words may be NULL. */
static size_t bench_words_count(char *const *words)
{
	size_t n = 0;

	while (words && words[n])
		n++;
	return n;
}

static int steps_check(const struct bench_options *o, size_t nr_commands)
{
	for (size_t i = 0; i < NR_BENCH_STEPS; i++) {
		if (o->nr_steps[i] <= 1 || o->nr_steps[i] == nr_commands)
			continue;
		log_error("bench: there are %zu commands, but %zu values of --%s; give that option "
			  "once, or once for each command",
			  nr_commands, o->nr_steps[i], bench_step_names[i]);
		return -EINVAL;
	}
	return 0;
}

static int bench_check_commands(const struct bench_options *o)
{
	size_t words = bench_words_count(o->common.words);

	if (o->command && words) {
		log_error("bench: unexpected '%s' before --: the words after -- are the only "
			  "command; without --, quote each command as one word",
			  o->common.words[0]);
		return -EINVAL;
	}
	if (bench_words_count(o->command) + words == 0) {
		log_error("bench: no command given; try: bpfmon bench 'sleep 0.1' 'sleep 0.2', "
			  "or: bpfmon bench -- sleep 0.1");
		return -EINVAL;
	}
	if (words > MAX_BENCH_COMMANDS) {
		log_error("bench: there are more than %d commands", MAX_BENCH_COMMANDS);
		return -EINVAL;
	}
	return steps_check(o, words ? words : 1);
}

/*
 * Checks names and values of parameters, which become tags of the runs. Returns 0, or -EINVAL after
 * a message to the user.
 */
static int bench_check_cases(const struct bench_plan *p)
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

static int bench_plan(const struct bench_options *o, struct bench_plan *p)
{
	struct bench_commands c = { .commands = (const char *const *)o->common.words,
				    .nr = bench_words_count(o->common.words),
				    .argv = o->command,
				    .shell = bench_shell(o) };
	int err = bench_check_commands(o);

	for (size_t i = 0; i < NR_BENCH_STEPS; i++) {
		c.steps[i] = o->steps[i];
		c.nr_steps[i] = o->nr_steps[i];
	}
	if (!err)
		err = parameters_make(o, &p->parameters);
	if (!err)
		err = bench_check_tags(o, &p->parameters);
	if (err)
		return err;
	err = bench_plan_make(p, &c);
	if (err == -E2BIG)
		log_error("bench: commands and values of parameters make more than %d "
			  "combinations; use fewer",
			  MAX_BENCH_CASES);
	else if (err == -EINVAL)
		log_error("bench: a command is empty or has an unclosed quote; without a shell, "
			  "bpfmon splits it into words");
	else if (err)
		log_error("out of memory for the commands");
	else
		err = bench_check_cases(p);
	p->runs = o->runs ? o->runs : DEFAULT_RUNS;
	p->warmups = o->warmups;
	p->seed = o->seed;
	if (!o->has_seed && getrandom(&p->seed, sizeof(uint32_t), 0) < 0)
		p->seed = 1;
	p->is_sequential = o->sequence == SEQUENCE_BLOCKS ||
			   (o->sequence == SEQUENCE_BY_SETUP && o->nr_steps[BENCH_SETUP]);
	return err;
}

static int bench_execute_plan(const struct bench_options *o, const struct bench_plan *p,
			      struct gates *gates)
{
	struct bench_record record;
	int err = bench_execute(o, p, &record), sig = record.end_signal;
	int shown = err && err != -EINTR ? 0 : bench_show(o, p, &record, gates);

	if ((err && err != -EINTR) || shown)
		bench_exports_remove(o);
	bench_record_done(&record);
	if (err == -EINTR && sig) {
		fflush(stdout); /* main() does not continue */
		signals_die(sig);
	}
	if (err == -ECANCELED)
		return EXIT_COMMAND_FAILED;
	if (err || shown)
		return EXIT_USAGE;
	return gates->has_failed ? EXIT_COMMAND_FAILED : 0;
}

/*
 * Refuses BPFMON_NO_STORE unless --store is given, as for other runs: there is no --no-store, which
 * would always be refused. Returns 0, or -EINVAL after a message.
 */
static int bench_check_store(char *const *words)
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

/* Returns how many words the option takes if these are several, else 0. */
static int words_taken(const char *word)
{
	if (!strcmp(word, "-L") || !strcmp(word, "--parameter-list"))
		return 2;
	if (!strcmp(word, "-P") || !strcmp(word, "--parameter-scan"))
		return 3;
	return 0;
}

/* Returns true if the next word is the option's value, whatever it looks like. */
static bool word_takes_value(const char *word)
{
	const struct option_group *group;
	const struct option_row *row;

	for (size_t i = 0; (row = option_at(&subcommand_bench, i, &group)); i++) {
		bool is_long = !strncmp(word, "--", 2) && !strcmp(word + 2, row->name);
		bool is_short = row->key && word[0] == '-' && word[1] == row->key && !word[2];

		if (is_long || is_short)
			return row->argument && !row->argument_is_optional;
	}
	return false;
}

static char *words_put_together(char **words, int nr)
{
	char *text = NULL;
	size_t room;
	FILE *f = memory_open_memstream(&text, &room);

	for (int i = 0; f && i < nr; i++)
		fprintf(f, "%s%s", i ? " " : "", words[i]);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}

/* Copies the option at @at with its value. Returns the index after it, or -ENOMEM. */
static int bench_line_take(struct bench_line *l, int argc, char **argv, int at)
{
	int nr = words_taken(argv[at]);

	l->argv[l->argc++] = argv[at++];
	if (nr && at < argc && strchr(argv[at], ' ')) /* quoted, as one word */
		nr = 0;
	if (!nr || at + nr > argc) {
		if (at < argc && word_takes_value(argv[at - 1]))
			l->argv[l->argc++] = argv[at++];
		return at;
	}
	l->joined[l->nr_joined] = words_put_together(argv + at, nr);
	if (!l->joined[l->nr_joined])
		return -ENOMEM;
	l->argv[l->argc++] = l->joined[l->nr_joined++];
	return at + nr;
}

static int bench_line_read(struct bench_line *l, int argc, char **argv)
{
	int at = 0;

	*l = (struct bench_line){ .argv = memory_calloc((size_t)argc + 1, sizeof(*argv)),
				  .joined = memory_calloc((size_t)argc + 1, sizeof(*argv)) };
	if (!l->argv || !l->joined)
		return -ENOMEM;
	while (at >= 0 && at < argc && !l->command) {
		if (!strcmp(argv[at], "--"))
			l->command = argv + at + 1;
		else
			at = bench_line_take(l, argc, argv, at);
	}
	return at < 0 ? at : 0;
}

static void bench_line_done(struct bench_line *l)
{
	for (size_t i = 0; i < l->nr_joined; i++)
		free(l->joined[i]);
	free(l->joined);
	free(l->argv);
	*l = (struct bench_line){ 0 };
}

static int cmd_bench(int argc, char **argv)
{
	static struct bench_options o; /* too large for the stack */
	struct bench_line line;
	struct bench_plan plan = { 0 };
	struct gates gates = { 0 };
	int go_on, status = EXIT_USAGE;

	if (bench_line_read(&line, argc, argv)) {
		log_error("out of memory for the command line");
		bench_line_done(&line);
		return EXIT_USAGE;
	}
	go_on = launch_begin(&subcommand_bench, &o, &o.recording, line.argc, line.argv);
	o.command = line.command;
	if (go_on <= 0)
		status = go_on ? EXIT_USAGE : 0;
	else if (!bench_check_store(line.argv) && !bench_plan(&o, &plan) &&
		 !bench_check_outputs(&o, &plan, &gates))
		status = bench_execute_plan(&o, &plan, &gates);
	gates_done(&gates);
	bench_plan_done(&plan);
	bench_line_done(&line);
	return status;
}

static int bench_parse(void *options, int argc, char **argv)
{
	struct bench_options *o = options;
	int err = recording_parse(&subcommand_bench, o, &o->recording, argc, argv);

	return err || !o->common.words ? err : recording_resolve(&o->recording, false);
}

const struct subcommand subcommand_bench = {
	.name = "bench",
	.summary = "run commands many times, and compare them",
	.part = PART_RECORDS,
	.loads_programs = true,
	.words = { .most = ANY_WORDS },
	.takes_command = true,
	.is_role = true,
	.run = cmd_bench,
	.groups = bench_groups,
	.options_bytes = sizeof(struct bench_options),
	.parse = bench_parse,
	.help = bench_help,
};
