// SPDX-License-Identifier: BSD-2-Clause
#include "top/top_stream.h"

#include "base/clock.h"
#include "store/live_source.h"
#include "store/source.h"
#include "run/agent_call.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LINE_BYTES (16 << 20)
#define TURN_NS (20 * NSEC_PER_MSEC) /* longest delay of a key */
#define STALE_NS (5 * NSEC_PER_SEC)

static void stream_begin(struct stream *s, struct model *m)
{
	*s = (struct stream){ .fd = -1, .control_fd = -1, .lines.most = LINE_BYTES, .model = m };
}

int stream_open_file(struct stream *s, struct model *m, const char *path)
{
	struct stat st;

	stream_begin(s, m);
	s->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
				  : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	if (s->fd < 0 || fstat(s->fd, &st)) {
		snprintf(s->why, sizeof(s->why), "cannot read '%s': %s", path, strerror(errno));
		return -errno;
	}
	if (S_ISDIR(st.st_mode)) {
		snprintf(s->why, sizeof(s->why), "cannot read '%s': %s", path, strerror(EISDIR));
		return -EISDIR;
	}
	s->is_file = S_ISREG(st.st_mode);
	s->size = st.st_size;
	return 0;
}

static int stored_take(void *context, struct line *l)
{
	return model_take(context, l);
}

/* Opens the feed first: it buffers lines while the past is read. */
int stream_open_stored(struct stream *s, struct model *m, const char *path, int64_t id,
		       bool is_running)
{
	struct source from;
	int err;

	stream_begin(s, m);
	err = source_open_stored(&from, path, id, is_running ? RUN_RUNNING : RUN_FINISHED);
	if (!err) {
		from.is_coarse = true;
		err = source_each(&from, PART(LINE_META), stored_take, m);
	}
	if (!err && is_running)
		s->fd = live_open(m->live_socket, true, s->note, sizeof(s->note));
	if (!err)
		err = source_each(&from, PARTS_ALL, stored_take, m);
	if (err)
		snprintf(s->why, sizeof(s->why), "cannot read the run: %s", source_why(&from, err));
	if (from.ops)
		source_close(&from);
	s->has_ended = s->fd < 0;
	return err;
}

static const char *stream_error(int err)
{
	return err == -EPROTONOSUPPORT ? "it was written by a newer bpfmon"
	       : err == -EBADMSG       ? "it is not a bpfmon run: it has no meta line"
				       : strerror(-err);
}

int stream_open_job(struct stream *s, struct model *m, const char *agent, const char *id)
{
	struct agent_call call;
	int err;

	stream_begin(s, m);
	err = agent_call_begin_job(&call, agent, id, s->why, sizeof(s->why));
	if (err)
		return err;
	s->fd = call.stream_fd;
	s->control_fd = call.control_fd;
	s->is_connecting = true;
	return 0;
}

int stream_fd(const struct stream *s)
{
	return s->is_connecting ? s->control_fd : s->fd;
}

/* Returns 0, or a negative errno with the reason in @s->why. */
static int stream_take_answer(struct stream *s)
{
	struct agent_call call = { s->control_fd, s->fd };
	int err = agent_call_answer(&call, s->why, sizeof(s->why));

	s->is_connecting = false;
	if (err)
		s->fd = s->control_fd = -1;
	return err;
}

int stream_open_live(struct stream *s, struct model *m, const char *socket_name)
{
	stream_begin(s, m);
	s->fd = live_open(socket_name, true, s->why, sizeof(s->why));
	return s->fd < 0 ? s->fd : 0;
}

static void stream_take_line(void *context, const char *text, size_t length)
{
	struct stream *s = context;
	struct model *m = s->model;
	int err;

	if (s->err || m->has_summary)
		return;
	err = text ? line_read_quick(&s->line, text, length) : -EBADMSG;
	if (err == -EBADMSG && m->has_meta) {
		m->unreadable++;
		return;
	}
	if (!err)
		err = model_take(m, &s->line);
	s->err = err;
	if (err)
		snprintf(s->why, sizeof(s->why), "%s", stream_error(err));
}

static int stream_wait_for_growth(struct stream *s)
{
	uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);

	if (!s->silent_since_ns)
		s->silent_since_ns = now_ns;
	s->is_stale = now_ns - s->silent_since_ns > STALE_NS;
	return 0;
}

/*
 * Returns true if a read would not block. O_NONBLOCK is no option, because the pipe may be shared.
 */
static bool stream_has_input(const struct stream *s)
{
	struct pollfd p = { .fd = stream_fd(s), .events = POLLIN };

	return s->is_file || poll(&p, 1, 0) > 0;
}

int stream_read(struct stream *s)
{
	uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
	int err = 0;

	while (s->fd >= 0 && !err && !s->err && !s->model->has_summary &&
	       clock_ns(CLOCK_MONOTONIC) - start_ns < TURN_NS) {
		if (!stream_has_input(s))
			return 0;
		if (s->is_connecting) {
			s->err = stream_take_answer(s);
			continue;
		}
		err = line_stream_read(&s->lines, s->fd, stream_take_line, s);
	}
	if (s->err)
		return s->err;
	s->at = s->is_file ? lseek(s->fd, 0, SEEK_CUR) : 0;
	s->has_ended = s->model->has_summary;
	if (!err)
		s->silent_since_ns = 0;
	if (s->has_ended)
		return 0;
	if (err == -ENODATA && s->is_file)
		return stream_wait_for_growth(s);
	s->has_ended = err != 0;
	if (err == -ENODATA && !s->model->has_meta) {
		snprintf(s->why, sizeof(s->why), "it ended before the first line of a run");
		return -EBADMSG;
	}
	if (err && err != -ENODATA)
		snprintf(s->why, sizeof(s->why), "cannot read: %s", strerror(-err));
	return err == -ENODATA ? 0 : err ? err : 1;
}

void stream_done(struct stream *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->control_fd >= 0)
		close(s->control_fd);
	line_stream_done(&s->lines);
	line_done(&s->line);
	s->fd = s->control_fd = -1;
}
