// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon bench: runs commands many times, and says by how much they differ. */
#include "bpfmon/cmd_bench.h"

#include "options/option_values.h"
#include "bpfmon/prepare.h"
#include "bpfmon/recording_values.h"

#include "base/exit_status.h"
#include "base/log.h"
#include "study/words.h"
#include "bpfmon/whole_file.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#define EXIT_COMMAND_FAILED 1
#define DEFAULT_RUNS 10
#define MAX_RUNS 2000 /* of a case: their ratios are all of each to each */

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
		return -EINVAL;
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
	if (o->nr_steps[step] == most || !*text)
		return -EINVAL;
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

/* A program, with arguments or without. */
static int shell_parse(void *shell, const char *text)
{
	char **words = words_split(text);

	if (!words)
		return -EINVAL;
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
	{ "warmup", 'w', "N", false, "Runs of each that do not count, before, 0 to 2000 (default 0)", warmups_parse, AT(warmups), GUARD_NONE },
	{ "parameter-list", 'L', "X LIST", false, "{X} stands for each of LIST, as in -L threads 1,2,4", parameter_list_parse, 0, GUARD_NONE },
	{ "parameter-scan", 'P', "X A B", false, "{X} stands for each number from A to B", parameter_scan_parse, 0, GUARD_NONE },
	{ "parameter-step-size", 'D', "N", false, "How far apart these numbers are (default 1)", text_parse, AT(scan_step), GUARD_NONE },
	{ "setup", 's', "CMD", false, "Execute this before the first run of each command", setup_parse, 0, GUARD_ENVIRONMENT },
	{ "prepare", 'p', "CMD", false, "Execute this before each run; once, or once for each command", prepare_parse, 0, GUARD_ENVIRONMENT },
	{ "conclude", 'C', "CMD", false, "Execute this after each run; once, or once for each command", conclude_parse, 0, GUARD_ENVIRONMENT },
	{ "cleanup", 'c', "CMD", false, "Execute this after the last run of each command", cleanup_parse, 0, GUARD_ENVIRONMENT },
	{ "ignore-failure", 'i', NULL, false, "Go on when a command fails", flag_parse, AT(ignore_failure), GUARD_NONE },
	{ "shell", 'S', "SHELL", false, "Execute commands by this shell (default sh); none: without", shell_parse, AT(shell), GUARD_ENVIRONMENT },
	{ "no-shell", 'N', NULL, false, "The same as --shell none", flag_parse, AT(no_shell), GUARD_NONE },
	{ "show-output", 0, NULL, false, "Show what commands print (default: it goes to /dev/null)", flag_parse, AT(show_output), GUARD_NONE },
	{ "order", 0, "ORDER", false, "mixed at random (default), or blocks: one after another", sequence_parse, AT(sequence), GUARD_NONE },
	{ "seed", 0, "N", false, "Seed of the random order: the same seed gives the same order", seed_parse, 0, GUARD_NONE },
	{ "export-json", 0, "FILE", false, "Write the results as hyperfine does (- for stdout)", text_parse, AT(export_json), GUARD_ENVIRONMENT },
	{ 0 }
};
#undef AT

#define AT(field) offsetof(struct bench_options, recording.field)
static const struct option_row bench_recording_rows[] = {
	{ "interval", 0, "TIME", false, "Time between samples: 1, 0.1, 10ms (default 1, at least 10ms)", interval_parse, AT(interval_ns), GUARD_NONE },
	{ "net", 0, NULL, false, "Count what sockets move, and TCP connections", flag_parse, AT(net), GUARD_NONE },
	{ "io-kinds", 0, NULL, false, "Split read and written bytes: files, sockets, pipes, others", flag_parse, AT(io_kinds), GUARD_NONE },
	{ "no-args", 0, NULL, false, "Leave out command lines: they may hold secrets", flag_parse, AT(no_args), GUARD_NONE },
	{ "verbose", 'v', NULL, false, "Say what is loaded, what is missing, and where the run goes", flag_parse, AT(verbose), GUARD_NONE },
	{ "agent", 0, "SOCKET", false, "Go through the agent at SOCKET, even where it is not needed", text_parse, AT(agent), GUARD_ENVIRONMENT },
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

static int bench_parse(void *options, int argc, char **argv)
{
	struct bench_options *o = options;
	int err = recording_parse(&subcommand_bench, o, &o->recording, argc, argv);

	return err || !o->common.words ? err : recording_resolve(&o->recording, false);
}

static void bench_help(void)
{
	puts("Usage: bpfmon bench [OPTIONS] 'COMMAND'...\n"
	     "       bpfmon bench [OPTIONS] -- COMMAND [ARG...]\n\n"
	     "Runs each command many times, in turns, and compares time, CPU, memory, I/O and\n"
	     "spans. Before -- a command is one word, for the shell. Each run is kept, as by\n"
	     "bpfmon --.\n");
	options_print(&subcommand_bench);
	puts("\nExit status: 0; 1 a command failed; 2 usage, not permitted.");
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
			log_error("bench: --parameter-scan does not take '%s'; it takes a name "
				  "that no other parameter has, and two numbers: -P size 1 8; the "
				  "step of -D is more than 0",
				  g->text);
		else if (err == -EINVAL)
			log_error("bench: --parameter-list does not take '%s'; it takes a name "
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
		log_error("bench: there are more than %d commands with all their parameters",
			  MAX_BENCH_CASES);
	else if (err == -EINVAL)
		log_error("bench: a command has no word, or a quote that does not end, and there "
			  "is no shell to say so");
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

static int bench_follow(const struct bench_options *o, const struct bench_plan *p)
{
	struct bench_record record;
	int err = bench_execute(o, p, &record), sig = record.end_signal;
	int shown = err && err != -EINTR ? 0 : bench_show(o, p, &record);

	if ((err && err != -EINTR) || shown)
		bench_export_nothing(o);
	bench_record_done(&record);
	if (err == -EINTR && sig)
		signals_die(sig);
	if (err == -ECANCELED)
		return EXIT_COMMAND_FAILED;
	return err || shown ? EXIT_USAGE : 0;
}

static int cmd_bench(int argc, char **argv)
{
	static struct bench_options o; /* static: large for a stack */
	struct bench_line line;
	struct bench_plan plan = { 0 };
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
		 (!o.export_json || !whole_file_check("results", o.export_json, o.force)))
		status = bench_follow(&o, &plan);
	bench_plan_done(&plan);
	bench_line_done(&line);
	return status;
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
