// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon [OPTIONS] -- COMMAND: runs a command and accounts for it. */
#include "bpfmon/recording_options.h"

#include "base/clock.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/memory.h"
#include "base/number.h"
#include "bpfmon/prepare.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/subcommands.h"
#include "options/mistakes.h"
#include "options/option_values.h"
#include "options/settings.h"
#include "run/limit.h"
#include "run/meta.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_GRACE_NS (10 * NSEC_PER_SEC)

static int wait_parse(void *for_tree, const char *text)
{
	if (strcmp(text, "tree") != 0 && strcmp(text, "command") != 0)
		return value_refuse("command or tree");
	*(bool *)for_tree = !strcmp(text, "tree");
	return 0;
}

static int limit_grace_parse(void *options, const char *text)
{
	struct run_options *o = options;

	o->has_limit_grace = true;
	return time_parse(text, &o->limit_grace_ns);
}

static int metrics_udp_parse(void *options, const char *text)
{
	struct intake_options *push = options;

	push->metrics_udp = true;
	return number_parse(text, 0, UINT16_MAX, &push->port);
}

/* @text is NULL if no name is given. */
static int user_parse(void *options, const char *text)
{
	struct run_options *o = options;

	if (text && !*text)
		return value_refuse("the name of a user");
	o->switch_user = true;
	o->user = text;
	return 0;
}

static int limit_text_add(struct limit_texts *t, const char *text, bool is_soft)
{
	if (t->nr == MAX_LIMITS)
		return value_refuse("at most %d limits", MAX_LIMITS);
	if (strlen(text) >= LIMIT_TEXT)
		return value_refuse("at most %d characters, as in rss<2GiB", LIMIT_TEXT - 1);
	t->text[t->nr] = text;
	t->is_soft[t->nr++] = is_soft;
	return 0;
}

/* Parsers for a struct limit_texts. */
static int limit_hard_parse(void *texts, const char *text)
{
	return limit_text_add(texts, text, false);
}

static int limit_soft_parse(void *texts, const char *text)
{
	return limit_text_add(texts, text, true);
}

/* clang-format off */
#define AT(field) offsetof(struct run_options, field)

static const struct option_row run_rows[] = {
	{ "wait", 0, "WHAT", false, "Wait for the 'command' (default) or for its whole 'tree'", wait_parse, AT(wait_tree), GUARD_NONE },
	{ "own-cgroup", 0, NULL, false, "Run the command in its own cgroup, and record its metrics", flag_parse, AT(own_cgroup), GUARD_ENVIRONMENT },
	{ "marks", 0, NULL, false, "Provide a socket for frequent marks, without replies", flag_parse, AT(push.marks), PROJECT_MAY },
	{ "span-samples", 0, NULL, false, "Record the values of each live span at each sample", flag_parse, AT(span_samples), GUARD_NONE },
	{ "limit", 0, "KEY<VALUE", false, "End the run above this: rss<2GiB, wall<1h, process.cpu<10min", limit_hard_parse, AT(limits), GUARD_NONE },
	{ "soft-limit", 0, "KEY<VALUE", false, "Only report when the limit is exceeded; see --on-limit", limit_soft_parse, AT(limits), GUARD_NONE },
	{ "on-limit", 0, "COMMAND", false, "Run this shell command when a limit is exceeded", text_parse, AT(on_limit), GUARD_ENVIRONMENT },
	{ "limit-grace", 0, "TIME", false, "Time from SIGTERM to SIGKILL at a limit (default 10)", limit_grace_parse, 0, GUARD_NONE },
	{ "metrics-udp", 0, "PORT", false, "Receive metrics on this UDP port of the loopback (0: any)", metrics_udp_parse, AT(push), GUARD_ENVIRONMENT },
	{ "user", 0, "NAME", true, "Run the command as NAME (default: the user who called sudo)", user_parse, 0, GUARD_LOWERS },
	{ 0 }
};
/* clang-format on */

static const struct option_group run_groups[] = {
	RECORDING_GROUPS(struct run_options), { run_rows, 0, true },
	{ rights_rows, AT(recording), true }, { tracking_rows, AT(recording), true },
	{ common_rows, AT(common), false },   { 0 },
};

/* Prints the other subcommands, by part. */
static void subcommands_print(void)
{
	static const char *const titles[] = {
		[PART_RECORDS] = "Record",
		[PART_READS] = "Read",
		[PART_INFORMS] = "More",
	};

	for (enum subcommand_part part = PART_RECORDS; part <= PART_INFORMS; part++) {
		printf("\n%s:\n", titles[part]);
		for (const struct subcommand *const *sub = subcommands; *sub; sub++)
			if ((*sub)->summary && (*sub)->part == part && (*sub)->name)
				printf("       bpfmon %-10s %s\n", (*sub)->name, (*sub)->summary);
	}
}

/* The most common calls, at the top of the help. */
static const char most_needed[] =
	"  bpfmon -- make -j8                  run a command, and measure all its processes\n"
	"  bpfmon -o run.jsonl -- ./job.sh     also write the samples to a file\n"
	"  bpfmon --name align -- ./align.sh   give the run a name\n"
	"  bpfmon attach --pid PID             measure a running process\n"
	"  bpfmon list                         list recorded runs\n"
	"  bpfmon show [RUN]                   show the last run, or RUN\n"
	"  bpfmon report [RUN]                 make an HTML page of it\n"
	"  bpfmon compare NAME                 compare its last run with those before\n"
	"  bpfmon help [COMMAND]               open the manual page\n";

static const struct option_title run_titles[] = {
	{ sampling_rows, "Measurement and output" },
	{ naming_rows, "Name, tags and store" },
	{ run_rows, "Command" },
	{ rights_rows, "Privileges" },
	{ tracking_rows, "Accounting" },
	{ common_rows, "Help" },
	{ 0 },
};

static void run_help(void)
{
	puts("Usage: bpfmon [OPTIONS] -- COMMAND [ARG...]");
	fputs(most_needed, stdout);
	subcommands_print();
	options_print_titled(&subcommand_run, run_titles);
	recording_print_variables();
	puts("Exit status: that of the command; 124: ended by a limit, 125: bpfmon failed, 126: "
	     "not\n"
	     "executable, 127: not found.");
}

static int users_choose(const struct run_options *o, struct user *caller, struct user *run_as,
			struct launch_options *l)
{
	bool was_sudo = recorder_choose_user(&o->recording, caller, l);

	/* for the person who typed sudo; a script with sudo was written by one who chose root */
	l->notes_root = was_sudo && !o->switch_user && !o->recording.quiet &&
			!o->recording.template && isatty(STDERR_FILENO);
	if (!o->switch_user)
		return 0;
	if (!o->user && !was_sudo) {
		log_error("--user without a name works only under sudo; use --user=NAME");
		return -1;
	}
	if (!o->user) {
		*run_as = *caller;
	} else if (user_find(o->user, run_as)) {
		log_error("unknown user '%s' in --user", o->user);
		return -1;
	}
	l->run_as = run_as;
	return 0;
}

/* Each bpfmon would count only its own rank, and load the programs again. */
static void ranks_warn(void)
{
	const char *variable = scheduler_later_rank();

	if (variable)
		log_warn("%s is not 0, so bpfmon runs once per rank; run it once per node instead, "
			 "with a span for each rank: bpfmon -- mpirun bpfmon span NAME -- COMMAND",
			 variable);
}

static void limits_find_origins(const struct limit_texts *t, struct limit_origin *origins)
{
	for (unsigned i = 0; i < t->nr; i++)
		settings_origin(t->text[i], &origins[i].path, &origins[i].line);
}

static int cmd_run(int argc, char **argv)
{
	static struct user caller, run_as; /* too large for the stack */
	static struct run_options o;
	static struct limit_origin origins[MAX_LIMITS];
	struct launch_options l = { 0 };
	struct run run = { 0 };
	int go_on = launch_begin(&subcommand_run, &o, &o.recording, argc, argv);

	if (go_on <= 0)
		return go_on ? EXIT_BPFMON : 0;
	if (lent_rights_check_run(&o) || users_choose(&o, &caller, &run_as, &l))
		return EXIT_BPFMON;
	if (agent_choose(&l, &o.recording,
			 o.own_cgroup    ? "--own-cgroup"
			 : o.switch_user ? "--user"
					 : NULL,
			 true))
		return EXIT_BPFMON;
	if (l.is_bare)
		return argv_execute(o.common.words); /* as if bpfmon were not there */
	ranks_warn();
	launch_prepare(&l, &o.recording, &caller, &run);
	if (!run.job)
		run.job = scheduler_job_id();
	run.command = o.recording.no_args ? NULL : o.common.words;
	l.argv = o.common.words;
	l.own_cgroup = o.own_cgroup;
	l.push = o.push;
	memcpy(l.request.limits, o.limit, sizeof(o.limit));
	l.request.nr_limits = o.limits.nr;
	l.recorder.on_limit.command = o.on_limit;
	limits_find_origins(&o.limits, origins);
	l.limit_origins = origins;
	l.limit_grace_ns = o.has_limit_grace ? o.limit_grace_ns : LIMIT_GRACE_NS;
	l.request.wait_tree = o.wait_tree;
	l.request.span_samples = o.span_samples;
	if (memory_has_failed()) {
		log_error("out of memory; the command was not run");
		return EXIT_BPFMON;
	}
	return launcher_run(&l);
}

static const char *limit_skip_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/*
 * Parses the number in the unit of @l; without a suffix it is in bytes, seconds, or counts. Returns
 * NULL, or the error.
 */
static const char *limit_read_most(struct limit *l, const char *at)
{
	const size_t digits = strspn(at, "0123456789.");
	const double scale = l->is_wall ? 1e9 : pow(10, metric_unit_decimals(limit_unit(l)));
	enum metric_unit of = limit_unit(l);
	double value, factor = 1;
	char *end;

	if (*at == '=')
		return "has <=, but < is the only comparison";
	if (!digits)
		return "has no number after <";
	value = strtod(at, &end);
	if (end != at + digits)
		return "has no number after <";
	end = (char *)limit_skip_blanks(end);
	if (*end && (suffix_find(end, &of, &factor) || of != limit_unit(l)))
		return "has a unit that does not fit its key; units are B KiB MiB GiB TiB, kB MB "
		       "GB TB, and us ms s min h d";
	if (!number_round(value * factor * scale, &l->most) || l->most > NUMBER_MAX)
		return "has a number that is too large";
	return NULL;
}

static const char *limit_read_key(struct limit *l, const char **at)
{
	int err;

	*at = limit_set_from_text(l, *at, &err);
	switch (err) {
	case 0:
		break;
	case -EINVAL:
		return l->of == LIMIT_OF_PROCESS
			       ? "has a key that is not available for a process; use rss, "
				 "rss_anon_bytes, swap, wall or a counter of its record, as in cpu "
				 "or write"
			       : "has a key that is not available for a span; use wall, a memory "
				 "metric except pss and uss, or a counter, as in cpu or processes";
	default:
		return "must start with a key: memory, rss, cpu, wall, processes, read, write, "
		       "net, "
		       "or one from bpfmon metrics";
	}
	*at = limit_skip_blanks(*at);
	if (**at != '<')
		return "has no < after its key, and < is the only comparison";
	*at = limit_skip_blanks(*at + 1);
	return NULL;
}

static const char *limit_check_metrics(const struct limit *l, const struct metric_set *has)
{
	static char why[64];
	const char *option;

	for (unsigned i = 0; i < l->nr_parts; i++) {
		if (metric_has(has, l->parts[i]))
			continue;
		option = metric_source_get(metric_get(l->parts[i])->source)->option;
		if (!option)
			return "needs a metric that --metrics leaves out";
		snprintf(why, sizeof(why), "needs a metric that is not recorded; add %s", option);
		return why;
	}
	return NULL;
}

static const char *limit_resolve(struct limit *l, const char *text, const struct metric_set *has)
{
	const char *at = limit_skip_blanks(text), *wrong;

	snprintf(l->text, sizeof(l->text), "%s", text);
	wrong = limit_read_key(l, &at);
	if (!wrong)
		wrong = limit_read_most(l, at);
	return wrong ? wrong : limit_check_metrics(l, has);
}

/*
 * Parses all limits into @limits (MAX_LIMITS); @has are the recorded metrics. Returns 0, or -EINVAL
 * after a message.
 */
static int limits_resolve(struct limit *limits, const struct limit_texts *texts,
			  const struct metric_set *has)
{
	for (unsigned i = 0; i < texts->nr; i++) {
		const char *wrong;

		limits[i] = (struct limit){ .is_soft = texts->is_soft[i] };
		wrong = limit_resolve(&limits[i], texts->text[i], has);
		if (!wrong)
			continue;
		log_error("limit '%s' %s; example of a limit: rss<2GiB", texts->text[i], wrong);
		return -EINVAL;
	}
	return 0;
}

static int run_parse(void *options, int argc, char **argv)
{
	struct run_options *o = options;
	int err = recording_parse(&subcommand_run, o, &o->recording, argc, argv);

	if (err || !o->common.words)
		return err;
	if (!*o->common.words) {
		log_error("no command given; try: bpfmon -- sleep 1");
		return -EINVAL;
	}
	if (!o->common.is_after_dashes)
		return mistaken_command_refuse(argv, o->common.words);
	err = recording_resolve(&o->recording, o->own_cgroup);
	return err ? err : limits_resolve(o->limit, &o->limits, &o->recording.wanted);
}

const struct subcommand subcommand_run = {
	.aliases = "run exec record monitor",
	.ends_at_word = true,
	.loads_programs = true,
	.words = { .most = ANY_WORDS },
	.takes_command = true,
	.is_role = true,
	.run = cmd_run,
	.groups = run_groups,
	.options_bytes = sizeof(struct run_options),
	.parse = run_parse,
	.help = run_help,
};
