// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon span NAME -- COMMAND: executes a command as a span of the surrounding run. */
#include "base/cleanup.h"
#include "base/exit_status.h"
#include "base/log.h"
#include "base/span_call.h"
#include "bpfmon/recording_options.h"
#include "bpfmon/roles/launch_signals.h"
#include "bpfmon/roles/launcher.h"
#include "bpfmon/subcommands.h"
#include "options/common_options.h"
#include "options/option_values.h"
#include "run/span.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct span_options {
	struct common_options common; /* common.words: the name, or begin or end and the name */
	struct run_tags tags;
	bool quiet;
};

/* clang-format off */
#define AT(field) offsetof(struct span_options, field)

static const struct option_row span_rows[] = {
	{ "tag", 't', "KEY=VALUE", false, "Tag the span; may be repeated", run_tags_parse, AT(tags), GUARD_NONE },
	{ "quiet", 'q', NULL, false, "If no span can begin, print nothing and do not fail", flag_parse, AT(quiet), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

/*
 * Takes no variables: BPFMON_QUIET and others are meant for the run, and the command inherits them.
 */
static const struct option_group span_groups[] = {
	{ span_rows, 0, false },
	{ common_rows, AT(common), false },
	{ 0 },
};

static void span_help(void)
{
	puts("Usage: bpfmon span NAME [OPTIONS] -- COMMAND [ARG...]\n"
	     "       bpfmon span begin NAME [OPTIONS]\n"
	     "       bpfmon span end NAME\n"
	     "\n"
	     "For use inside a bpfmon run. Runs COMMAND, and measures it and all processes that "
	     "it\n"
	     "starts separately, in addition to the run. Outside a run, prints a note and runs\n"
	     "COMMAND. begin and end do this for the calling process, from begin to end.\n");
	options_print(&subcommand_span);
	puts("\n"
	     "Exit status: that of COMMAND; 125: usage error, 126: not executable, 127: not "
	     "found.\n"
	     "Of begin and end: 0: success, 2: usage error, or, without -q, not inside a run, or\n"
	     "refused by the run.");
}

static const struct first_word span_words[] = {
	{ "begin", NULL, ANY_WORDS },
	{ "end", NULL, ANY_WORDS },
	{ 0 },
};

/* Sends a message to the run. On failure, warns with the reason. */
static int span_send(const struct span_options *o, const struct span_call_words *words,
		     char answer[SPAN_ANSWER_BYTES])
{
	const char *address = getenv(SPAN_VARIABLE), *name = words->name;
	struct jsonw j = { 0 };
	int err;

	if (!address || !*address)
		return -ENOENT;
	span_call_write(&j, words, o->tags.list, o->tags.nr);
	err = span_call(address, &j, answer);
	jsonw_done(&j);
	if (o->quiet || !err)
		return err;
	if (err == -ECONNREFUSED)
		log_warn("span '%s': the run has ended, or cannot be reached from here", name);
	else if (err == -EPERM)
		log_warn("span '%s': %s", name, answer);
	else if (err == -EAGAIN)
		log_warn("span '%s': the run does not answer", name);
	else
		log_warn("span '%s': cannot send the request to the run: %s", name, strerror(-err));
	return err;
}

static bool command_has_ended(pid_t command, int *status)
{
	while (waitpid(command, status, WNOHANG | WUNTRACED) == command) {
		if (!WIFSTOPPED(*status))
			return true;
		signals_stop_self(WSTOPSIG(*status));
	}
	return false;
}

static void signals_pass_on(int fd, pid_t command)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == sizeof(si))
		if (signals_is_to_forward(&si, command))
			kill(command, (int)si.ssi_signo);
}

/*
 * Executes @command to its end and forwards signals to it. Returns its wait(2) status or a negative
 * errno.
 */
static int span_attend(char **command)
{
	sigset_t before;
	__cleanup(closep) int fd = signals_open(&before);
	struct pollfd news = { .fd = fd, .events = POLLIN };
	pid_t pid = fd < 0 ? -1 : fork();
	int status = 0, wait_ms;

	if (!pid) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		_exit(argv_execute(command));
	}
	if (pid < 0) {
		sigprocmask(SIG_SETMASK, &before, NULL);
		return -errno;
	}
	wait_ms = signals_read_all(fd);
	while (!command_has_ended(pid, &status)) {
		poll(&news, 1, wait_ms);
		signals_pass_on(fd, pid);
	}
	return status;
}

/* Ends this process in the same way as @status. */
__attribute__((noreturn)) static void span_end_as(int status)
{
	if (WIFSIGNALED(status))
		signals_die(WTERMSIG(status));
	_exit(WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status));
}

/* Returns 0, or -EINVAL after a message. */
static int span_check_name(const char *name)
{
	size_t length = strlen(name);

	if (length && length < SPAN_NAME_BYTES)
		return 0;
	if (length)
		log_error("span: the name has %zu bytes; the limit is %d", length,
			  SPAN_NAME_BYTES - 1);
	else
		log_error("span: the name is empty");
	return -EINVAL;
}

static int span_execute(const struct span_options *o, char **command)
{
	const char *name = o->common.words[0];
	struct span_call_words words = { .name = name };
	char answer[SPAN_ANSWER_BYTES];
	int err;

	if (!name || o->common.words[1] || !*command) {
		log_error("span: give one name and a command, as in: bpfmon span align -- "
			  "./align.sh");
		return EXIT_BPFMON;
	}
	if (span_check_name(name))
		return EXIT_BPFMON;
	err = span_send(o, &words, answer);
	if (err == -ENOENT && !o->quiet)
		log_note("span '%s': not inside a bpfmon run; the command is executed without a "
			 "span",
			 name);
	if (err || !span_answer_is_kept(answer))
		return argv_execute(command);
	words.status = span_attend(command);
	if (words.status < 0) {
		log_error("cannot start '%s': %s", command[0], strerror(-words.status));
		return EXIT_BPFMON;
	}
	words.is_end = words.has_status = true;
	span_send(o, &words, answer);
	span_end_as(words.status);
}

static int span_in_place(const struct span_options *o)
{
	char *const *words = o->common.words;
	struct span_call_words said = { .in_place = true, .pid = getppid() };
	char answer[SPAN_ANSWER_BYTES];
	int err;

	said.is_end = words[0] && !strcmp(words[0], "end");
	said.name = words[0] ? words[1] : NULL;

	if (!words[0] || (!said.is_end && strcmp(words[0], "begin") != 0) || !words[1] ||
	    words[2]) {
		log_error("span: no name given; try: bpfmon span align -- ./align.sh; or: bpfmon "
			  "span begin align, and later: bpfmon span end align");
		return EXIT_USAGE;
	}
	if (span_check_name(words[1]))
		return EXIT_USAGE;
	err = span_send(o, &said, answer);
	if (err == -ENOENT && !o->quiet)
		log_error("span: not inside a bpfmon run: no " SPAN_VARIABLE " is set");
	return err && !o->quiet ? EXIT_USAGE : 0;
}

/* Returns true for NAME and a command without --: its options would be taken for those of span. */
static bool span_lacks_dashes(int argc, char **argv)
{
	return argc > 2 && argv[1][0] != '-' && strcmp(argv[1], "begin") != 0 &&
	       strcmp(argv[1], "end") != 0 && argv[2][0] != '-';
}

static int cmd_span(int argc, char **argv)
{
	struct span_options o;
	char **command = NULL;
	int go_on;

	for (int i = 1; i < argc && !command; i++) {
		if (strcmp(argv[i], "--") != 0)
			continue;
		command = &argv[i + 1];
		argv[i] = NULL;
		argc = i;
	}
	if (!command && span_lacks_dashes(argc, argv)) {
		log_error("span: the command must follow '--': bpfmon span %s -- %s%s", argv[1],
			  argv[2], argc > 3 ? " ..." : "");
		return EXIT_BPFMON;
	}
	go_on = options_begin(&subcommand_span, &o, argc, argv);
	if (go_on <= 0)
		return !go_on ? 0 : command ? EXIT_BPFMON : EXIT_USAGE;
	return command ? span_execute(&o, command) : span_in_place(&o);
}

static int span_parse(void *options, int argc, char **argv)
{
	const struct span_options *o = options;
	int err = options_parse(&subcommand_span, options, argc, argv);

	if (err || o->tags.nr <= MAX_SPAN_TAGS)
		return err;
	log_error("span: %zu tags given; the limit is %d", o->tags.nr, MAX_SPAN_TAGS);
	return -EINVAL;
}

const struct subcommand subcommand_span = {
	.name = "span",
	.summary = "measure a part of a run separately",
	.part = PART_RECORDS,
	.becomes_command = true,
	.words = { .most = ANY_WORDS, .first = span_words, .takes_other_first = true },
	.takes_command = true,
	.is_role = true,
	.run = cmd_span,
	.groups = span_groups,
	.options_bytes = sizeof(struct span_options),
	.parse = span_parse,
	.help = span_help,
};
