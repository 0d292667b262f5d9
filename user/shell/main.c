// SPDX-License-Identifier: BSD-2-Clause
/*
 * The program libexec/bpfmon/bash, which replaces the shell of make, Snakemake and others: it
 * begins a span named after the job and executes the real shell, or directly the job if the shell
 * would do nothing else. If anything fails, the shell is executed.
 */
#include "base/exit_status.h"
#include "base/span_call.h"
#include "shell/job_name.h"
#include "shell/shell_words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define VERBOSE_VARIABLE "BPFMON_SPAN_VERBOSE"

/* Requests a span for this process from the run. Returns 0 or a negative errno. */
static int job_call(const char *address, const struct job_name *job, char answer[SPAN_ANSWER_BYTES])
{
	const char *tags[MAX_SPAN_TAGS];
	struct jsonw j = { 0 };
	int err;

	for (size_t i = 0; i < job->nr_tags; i++)
		tags[i] = job->tags[i];
	span_call_write(&j, &(struct span_call_words){ .name = job->name }, tags, job->nr_tags);
	err = span_call(address, &j, answer);
	jsonw_done(&j);
	return err;
}

static void shell_mark_environment(const char *level)
{
	char value[64];

	if ((size_t)snprintf(value, sizeof(value), "%d %s", (int)getpid(), level ? level : "") <
	    sizeof(value))
		setenv(SHELL_VARIABLE, value, 1);
}

/* Executes the command without a shell, if possible. */
static void command_execute(const struct shell_words *w)
{
	struct simple_command c;

	if (!simple_command_read(&c, w))
		return;
	simple_command_execute(&c);
	simple_command_done(&c);
}

static void job_begin(const struct shell_words *w)
{
	const char *address = getenv(SPAN_VARIABLE), *level = getenv("MAKELEVEL");
	/* read before shell_mark_environment() changes it */
	const char *variable = getenv(SHELL_VARIABLE);
	static struct job_name job;
	char answer[SPAN_ANSWER_BYTES];
	int err;

	if (access(REAL_SHELL, X_OK))
		shell_mark_environment(
			level); /* PATH may lead to another copy, and that back to this one */
	if (!address || !*address)
		return;
	job_name_find(&job, w);
	if (!job_is_new(&job, variable, level))
		return;
	err = job_call(address, &job, answer);
	if (!err) {
		shell_mark_environment(level);
		command_execute(w);
	} else if (getenv(VERBOSE_VARIABLE)) {
		fprintf(stderr, "bpfmon: span '%s': %s\n", job.name,
			err == -EPERM ? answer : strerror(-err));
	}
}

/*
 * Returns whether another copy of this program has begun the span of this process and then executed
 * this one.
 */
static bool shell_was_wrapper(void)
{
	const char *variable = getenv(SHELL_VARIABLE);

	return variable && atoi(variable) == getpid();
}

int main(int argc, char **argv)
{
	bool was_wrapper = shell_was_wrapper();
	struct shell_words w;
	int err;

	(void)argc;
	shell_words_parse(&w, argv);
	if (!was_wrapper)
		job_begin(&w);
	err = real_shell_execute(argv, was_wrapper);
	if (err == -E2BIG && !unsetenv(SHELL_VARIABLE))
		err = real_shell_execute(argv, was_wrapper); /* without the variable it may fit */
	fprintf(stderr, "bpfmon: cannot execute a shell: %s\n", strerror(-err));
	return err == -ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}
