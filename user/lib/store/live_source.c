// SPDX-License-Identifier: BSD-2-Clause
#include "store/live_source.h"

#include "base/clock.h"
#include "base/json.h"
#include "base/line_stream.h"
#include "base/memory.h"
#include "base/span_call.h"
#include "base/text.h"
#include "run/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 10000 /* the collector may be stopped, or the machine loaded */

static int live_request_send(int fd, bool with_processes)
{
	struct jsonw j = { 0 };
	int err;

	jsonw_object(&j, NULL);
	jsonw_string(&j, "live", with_processes ? "processes" : "samples");
	jsonw_object_end(&j);
	err = j.failed ? -ENOMEM : 0;
	if (!err && send(fd, j.text, j.used, MSG_NOSIGNAL) < 0)
		err = -errno;
	jsonw_done(&j);
	return err;
}

/* Peeks at the first message: a line, or a text with the reason for a refusal. */
static int live_check_answer(int fd, char *why, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char text[256];
	ssize_t n;

	if (poll(&p, 1, PATIENCE_MS) <= 0) {
		snprintf(why, size, "its collector does not respond");
		return -ETIMEDOUT;
	}
	n = recv(fd, text, sizeof(text) - 1, MSG_PEEK);
	if (n <= 0) {
		snprintf(why, size, "the run has ended");
		return -ECONNREFUSED;
	}
	if (*text == '{')
		return 0;
	text[n] = '\0';
	text_disarm(text);
	snprintf(why, size, "%s", text);
	return -EPERM;
}

static int live_begin(int fd, const char *socket, bool with_processes, char *why, size_t size)
{
	int err = span_connect(fd, socket);

	if (!err)
		err = live_request_send(fd, with_processes);
	if (err) {
		snprintf(why, size,
			 err == -ECONNREFUSED ? "it has ended, or is on another host" : "%s",
			 strerror(-err));
		return err;
	}
	err = live_check_answer(fd, why, size);
	if (!err && fcntl(fd, F_SETFL, O_NONBLOCK) < 0)
		err = -errno;
	return err;
}

int live_open(const char *socket_name, bool with_processes, char *why, size_t size)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), err;

	if (fd < 0) {
		snprintf(why, size, "%s", strerror(errno));
		return -errno;
	}
	err = live_begin(fd, socket_name, with_processes, why, size);
	if (!err)
		return fd;
	close(fd);
	return err;
}

#define LONGEST_LINE (1UL << 20)
#define REST_MS 300  /* wait for more lines if their number is unknown */
#define MOST_MS 3000 /* limit for all of them: the first sample may not have been taken yet */

struct live_reader {
	live_process_fn fn;
	void *context;
	struct sample *last; /* may be NULL */
	struct line line;
	uint64_t nr, expected; /* processes; 0: unknown */
	bool is_done;          /* all expected processes, or another sample, have been read */
	int err;               /* -ENOMEM, or the result of the callback */
};

static void live_reader_keep(struct live_reader *k, const struct sample *s)
{
	if (k->nr) {
		k->is_done = true;
		return;
	}
	if (sample_has(s, M_processes))
		k->expected = s->value[M_processes];
	if (!k->last)
		return;
	*k->last = *s;
	k->last->instances = NULL;
	k->last->nr_instances = 0;
}

static void live_take_line(void *context, const char *text, size_t length)
{
	struct live_reader *k = context;
	int err;

	if (k->is_done || k->err || !text)
		return;
	err = line_read(&k->line, text, length);
	if (err == -ENOMEM)
		k->err = err;
	if (err)
		return;
	if (k->line.kind == LINE_PROCESS_SAMPLE) {
		k->err = k->fn(k->context, &k->line.process_sample);
		k->nr++;
		k->is_done = k->expected && k->nr >= k->expected;
	} else if (k->line.kind == LINE_SAMPLE) {
		live_reader_keep(k, &k->line.sample);
	}
}

static int live_read(struct live_reader *k, int fd)
{
	struct line_stream s = { .most = LONGEST_LINE };
	const uint64_t until_ns = clock_ns(CLOCK_MONOTONIC) + MOST_MS * NSEC_PER_MSEC;
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int err = 0;

	while (!err && !k->err && !k->is_done && clock_ns(CLOCK_MONOTONIC) < until_ns &&
	       poll(&p, 1, k->nr ? REST_MS : MOST_MS) > 0)
		err = line_stream_read(&s, fd, live_take_line, k);
	line_stream_done(&s);
	return k->err ? k->err : err == -ENOMEM ? err : 0;
}

int live_read_processes(const char *socket_name, live_process_fn fn, void *context,
			struct sample *last, char *why, size_t size)
{
	struct live_reader *k;
	int fd, err;

	if (!socket_name) {
		snprintf(why, size, "it is recorded by a bpfmon without live feed");
		return -ENOENT;
	}
	fd = live_open(socket_name, true, why, size);
	if (fd < 0)
		return fd;
	k = memory_calloc(1, sizeof(*k)); /* too large for the stack */
	if (k) {
		k->fn = fn;
		k->context = context;
		k->last = last;
		err = live_read(k, fd);
		line_done(&k->line);
	} else {
		err = -ENOMEM;
	}
	if (err == -ENOMEM)
		snprintf(why, size, "%s", strerror(ENOMEM));
	free(k);
	close(fd);
	return err;
}
