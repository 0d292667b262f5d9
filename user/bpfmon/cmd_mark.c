// SPDX-License-Identifier: BSD-2-Clause
/* bpfmon mark [OPTIONS] TEXT: reports the begin of a phase to the surrounding run. */
#include "base/memory.h"
#include "options/common_options.h"
#include "options/option_values.h"

#include "base/exit_status.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/span_call.h"
#include "run/line_protocol.h"
#include "bpfmon/subcommands.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PATIENCE_MS 1000 /* with a collector that does not read its datagrams */
#define TRY_AGAIN_MS 2

struct mark_options {
	struct common_options common; /* common.words: the text */
	bool is_metric, quiet;
};

/* clang-format off */
#define AT(field) offsetof(struct mark_options, field)

static const struct option_row mark_rows[] = {
	{ "metric", 'm', NULL, false, "Send a metric instead, as in 'loss,phase=train value=0.5'", flag_parse, AT(is_metric), GUARD_NONE },
	{ "quiet", 'q', NULL, false, "Outside a bpfmon run, do nothing and print nothing", flag_parse, AT(quiet), GUARD_NONE },
	{ 0 }
};
/* clang-format on */

/* Takes no variables: BPFMON_QUIET is meant for the run, and the command inherits it. */
static const struct option_group mark_groups[] = {
	{ mark_rows, 0, false },
	{ common_rows, AT(common), false },
	{ 0 },
};

static int mark_parse(void *options, int argc, char **argv)
{
	const struct mark_options *o = options;
	int err = options_parse(&subcommand_mark, options, argc, argv);

	if (err || !o->common.words || *o->common.words)
		return err;
	log_error("mark: no text given; try: bpfmon mark \"epoch 3\"");
	return -EINVAL;
}

static void mark_help(void)
{
	puts("Usage: bpfmon mark [OPTIONS] TEXT...\n"
	     "       bpfmon mark [OPTIONS] --metric LINE\n"
	     "\n"
	     "For use inside a bpfmon run. Begins a phase named TEXT, or adds a metric of the\n"
	     "command to the run. LINE is in Influx line protocol.\n");
	options_print(&subcommand_mark);
	puts("\nExit status: 0: success, 2: usage error, or not inside a run.");
}

/* Returns the words with a blank between them, which the caller frees, or NULL if out of memory. */
static char *words_join(const char *before, char **words)
{
	char *text = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&text, &length);

	if (!f)
		return NULL;
	fputs(before, f);
	for (char **w = words; *w; w++)
		fprintf(f, "%s%s", w == words ? "" : " ", *w);
	if (!fclose(f))
		return text;
	free(text);
	return NULL;
}

static bool text_is_metric(const char *text)
{
	char *copy = memory_strdup(text), *at = copy;
	struct point p;
	bool is = copy && point_parse(&p, &at, copy + strlen(copy)) == 1 && !*at;

	free(copy);
	return is;
}

/* Reports here what the collector would drop silently. */
static int mark_check_text(const struct mark_options *o, const char *text)
{
	size_t n = strlen(text);

	if (o->is_metric && !text_is_metric(text))
		log_error("mark: invalid Influx line protocol; try: bpfmon mark --metric "
			  "'loss,phase=train value=0.5'");
	else if (!o->is_metric && n == strlen(MARK_PREFIX))
		log_error("mark: the text is empty");
	else if (!o->is_metric && n > strlen(MARK_PREFIX) + MARK_BYTES)
		log_error("mark: the text has %zu bytes; the limit is %d", n - strlen(MARK_PREFIX),
			  MARK_BYTES);
	else
		return 0;
	return -EINVAL;
}

/* Retries for PATIENCE_MS, as the kernel queues only a few datagrams. */
static int mark_send(const char *path, const char *text)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	__cleanup(closep) int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	uint64_t end_ns = clock_ns(CLOCK_MONOTONIC) + PATIENCE_MS * NSEC_PER_MSEC;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return -errno;
	while (send(fd, text, strlen(text), MSG_DONTWAIT | MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN || clock_ns(CLOCK_MONOTONIC) > end_ns)
			return -errno;
		poll(NULL, 0, TRY_AGAIN_MS);
	}
	return 0;
}

/*
 * Sends the mark through the span socket, which always exists. The run has received it when it
 * answers.
 */
static int mark_call(const char *address, const char *text, bool is_quiet)
{
	char answer[SPAN_ANSWER_BYTES];
	size_t n = strlen(text);
	int err = n > SPAN_MESSAGE_BYTES ? -EMSGSIZE : span_call_text(address, text, n, answer);

	if (err == -EPERM && !is_quiet)
		log_error("mark: refused by the run: %s", answer);
	return err;
}

static const char *variable_find(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Reports why the mark has not been sent, except -EPERM, which has been reported. */
static void mark_report(int err, const char *path, const char *address)
{
	if (!path && !address)
		log_error("mark: not inside a bpfmon run: no " SPAN_VARIABLE
			  " is set; run the command with: bpfmon -- COMMAND");
	else if (err == -EMSGSIZE)
		log_error("mark: the metrics have more than %d bytes; with bpfmon --marks, the "
			  "limit is 65,536",
			  SPAN_MESSAGE_BYTES);
	else if (err == -ENOENT || err == -ECONNREFUSED || err == -EPIPE)
		log_error("mark: the run with the socket '%s' has ended%s", path ? path : address,
			  path ? "" : ", or cannot be reached from here");
	else if (err == -EAGAIN)
		log_error("mark: the run does not answer");
	else if (err != -EPERM)
		log_error("mark: cannot send to the run, on '%s': %s", path ? path : address,
			  strerror(-err));
}

static int cmd_mark(int argc, char **argv)
{
	const char *path = variable_find(MARK_VARIABLE), *address = variable_find(SPAN_VARIABLE);
	__cleanup(freep) char *text = NULL;
	struct mark_options o;
	int go_on = options_begin(&subcommand_mark, &o, argc, argv), err;

	if (go_on <= 0)
		return go_on ? EXIT_USAGE : 0;
	/* the blank distinguishes a measurement named "mark" from a mark */
	text = words_join(o.is_metric ? " " : MARK_PREFIX, o.common.words);
	if (!text || mark_check_text(&o, text))
		return EXIT_USAGE;
	err = path ? mark_send(path, text) : address ? mark_call(address, text, o.quiet) : -ENOENT;
	if (!err || o.quiet)
		return 0;
	mark_report(err, path, address);
	return EXIT_USAGE;
}

const struct subcommand subcommand_mark = {
	.name = "mark",
	.aliases = "phase",
	.summary = "begin a phase, from inside a run",
	.part = PART_RECORDS,
	.ends_at_word = true,
	.words = { .most = ANY_WORDS },
	.run = cmd_mark,
	.groups = mark_groups,
	.options_bytes = sizeof(struct mark_options),
	.parse = mark_parse,
	.help = mark_help,
};
