/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * bpfmon in C and C++: spans, marks and metrics of the run that this process is part of. A single
 * header for C99 or C++98 with POSIX; there is nothing to link:
 *
 *	#include <bpfmon.h>
 *
 *	bpfmon_span_begin("load");
 *	load();
 *	bpfmon_span_end("load");
 *
 * Outside a run each function only looks for an environment variable and returns 0. No function
 * prints anything or changes errno. Any thread may call them, but a span covers all threads of the
 * process, so only one thread should begin and end spans. Each call needs up to 10 KiB of stack.
 */
#ifndef BPFMON_H
#define BPFMON_H

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/un.h>
#include <unistd.h>

#define BPFMON_MESSAGE_BYTES 8192
#define BPFMON_ANSWER_BYTES 256
#define BPFMON_MARK_BYTES 1024
#define BPFMON_PATIENCE_SECONDS 10 /* limit, for a stopped run or a loaded machine */

#ifdef __cplusplus
#define BPFMON_ADDRESS(to) reinterpret_cast<const struct sockaddr *>(to)
#define BPFMON_CAST(type, value) static_cast<type>(value)
#else
#define BPFMON_ADDRESS(to) ((const struct sockaddr *)(to))
#define BPFMON_CAST(type, value) ((type)(value))
#endif

/* Internal: a message under construction; is_full is set if something did not fit. */
struct bpfmon_text {
	char text[BPFMON_MESSAGE_BYTES];
	size_t used;
	int is_full;
};

static inline void bpfmon_put_(struct bpfmon_text *t, const char *text, size_t length)
{
	if (length > sizeof(t->text) - t->used) {
		t->is_full = 1;
		return;
	}
	memcpy(t->text + t->used, text, length);
	t->used += length;
}

static inline void bpfmon_puts_(struct bpfmon_text *t, const char *text)
{
	bpfmon_put_(t, text, strlen(text));
}

/* Appends the contents of a JSON string, with escapes. */
static inline void bpfmon_put_json_(struct bpfmon_text *t, const char *text, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++) {
		const char c = text[i];
		char code[8];

		if (c == '"' || c == '\\') {
			bpfmon_put_(t, "\\", 1);
			bpfmon_put_(t, &c, 1);
		} else if (BPFMON_CAST(unsigned char, c) < ' ') {
			snprintf(code, sizeof(code), "\\u%04x", BPFMON_CAST(unsigned int, c));
			bpfmon_put_(t, code, 6);
		} else {
			bpfmon_put_(t, &c, 1);
		}
	}
}

/*
 * Appends a name in line protocol, which cannot express control characters (replaced by blanks) or
 * a backslash before a separator (replaced by a slash).
 */
static inline void bpfmon_put_name_(struct bpfmon_text *t, const char *name)
{
	for (; *name; name++) {
		if (BPFMON_CAST(unsigned char, *name) <= ' ')
			bpfmon_puts_(t, "\\ ");
		else if (*name == ',' || *name == '=')
			bpfmon_puts_(t, *name == ',' ? "\\," : "\\=");
		else if (*name == '\\' && (!name[1] || strchr(",= ", name[1])))
			bpfmon_puts_(t, "/");
		else
			bpfmon_put_(t, name, 1);
	}
}

static inline const char *bpfmon_variable_(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

/* Connects, sends, and waits for the answer. Returns the number in it, or a negative errno. */
static inline long bpfmon_exchange_(int fd, const char *address, const struct bpfmon_text *t)
{
	const struct timeval patience = { BPFMON_PATIENCE_SECONDS, 0 };
	const size_t length = strlen(address);
	char answer[BPFMON_ANSWER_BYTES];
	struct sockaddr_un to;
	ssize_t n;

	memset(&to, 0, sizeof(to));
	to.sun_family = AF_UNIX;
	if (*address != '@' || length < 2 || length > sizeof(to.sun_path))
		return -EINVAL;
	memcpy(to.sun_path + 1, address + 1, length - 1);
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
	if (connect(fd, BPFMON_ADDRESS(&to),
		    BPFMON_CAST(socklen_t, offsetof(struct sockaddr_un, sun_path) + length)))
		return -errno;
	if (send(fd, t->text, t->used, MSG_NOSIGNAL) < 0)
		return -errno;
	do
		n = recv(fd, answer, sizeof(answer) - 1, 0);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return n ? -errno : -ECONNRESET;
	answer[n] = '\0';
	return *answer >= '0' && *answer <= '9' ? atol(answer) : -EPERM;
}

/* Does so with a new socket. Also returns 0 if the run has ended or there is none. */
static inline long bpfmon_ask_(const struct bpfmon_text *t)
{
	const char *address = bpfmon_variable_("BPFMON_SPAN_SOCKET");
	const int before = errno;
	long number;
	int fd;

	if (!address)
		return 0;
	if (t->is_full)
		return -E2BIG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	number = fd < 0 ? -errno : bpfmon_exchange_(fd, address, t);
	if (fd >= 0)
		close(fd);
	errno = before;
	return number == -ECONNREFUSED ? 0 : number;
}

/* Sends to the socket of --marks, which does not answer. Returns 1 if it was sent, else 0. */
static inline int bpfmon_send_(const struct bpfmon_text *t)
{
	const char *path = bpfmon_variable_("BPFMON_MARK_SOCKET");
	const int before = errno;
	struct sockaddr_un to;
	ssize_t n = -1;
	int fd;

	memset(&to, 0, sizeof(to));
	to.sun_family = AF_UNIX;
	if (!path || strlen(path) >= sizeof(to.sun_path) || t->is_full)
		return 0;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		n = sendto(fd, t->text, t->used, MSG_DONTWAIT | MSG_NOSIGNAL, BPFMON_ADDRESS(&to),
			   sizeof(to));
		close(fd);
	}
	errno = before;
	return n >= 0;
}

static inline int bpfmon_push_(const struct bpfmon_text *t)
{
	const long number = bpfmon_send_(t) ? 0 : bpfmon_ask_(t);

	return number < 0 ? BPFMON_CAST(int, number) : 0;
}

static inline void bpfmon_put_tags_(struct bpfmon_text *t, const char *const *tags)
{
	const char *before = ",\"tags\":{\"";

	for (; tags && *tags; tags++) {
		const char *equals = strchr(*tags, '=');
		const size_t key = equals ? BPFMON_CAST(size_t, equals - *tags) : strlen(*tags);

		bpfmon_puts_(t, before);
		bpfmon_put_json_(t, *tags, key);
		bpfmon_puts_(t, "\":\"");
		if (equals)
			bpfmon_put_json_(t, equals + 1, strlen(equals + 1));
		bpfmon_puts_(t, "\"");
		before = ",\"";
	}
	if (*before == ',' && before[1] == '"' && before[2] == '\0')
		bpfmon_puts_(t, "}");
}

static inline long bpfmon_span_say_(const char *what, const char *name, const char *const *tags)
{
	struct bpfmon_text t;

	if (!bpfmon_variable_("BPFMON_SPAN_SOCKET"))
		return 0;
	t.used = 0;
	t.is_full = 0;
	bpfmon_puts_(&t, "{\"span\":\"");
	bpfmon_puts_(&t, what);
	bpfmon_puts_(&t, "\",\"in_place\":true,\"name\":\"");
	bpfmon_put_json_(&t, name, strlen(name));
	bpfmon_puts_(&t, "\"");
	bpfmon_put_tags_(&t, tags);
	bpfmon_puts_(&t, "}");
	return bpfmon_ask_(&t);
}

/* Returns 1 if this process is in a run, according to its environment, else 0. */
static inline int bpfmon_in_run(void)
{
	return bpfmon_variable_("BPFMON_SPAN_SOCKET") != NULL;
}

/*
 * Begins a span of this process, which lasts until bpfmon_span_end() or the end of the process.
 * @name has up to 255 bytes of UTF-8; @tags is NULL, or a list of up to 16 texts "KEY=VALUE" that
 * ends with NULL. Returns the number of the span in the run, 0 if there is no run, -EPERM if the
 * run refused it, or another negative errno if the run cannot be reached.
 */
static inline long bpfmon_span_begin_tags(const char *name, const char *const *tags)
{
	return bpfmon_span_say_("begin", name, tags);
}

/* Same without tags. */
static inline long bpfmon_span_begin(const char *name)
{
	return bpfmon_span_say_("begin", name, NULL);
}

/* Ends the innermost span, which must be called @name. Returns like bpfmon_span_begin_tags(). */
static inline long bpfmon_span_end(const char *name)
{
	return bpfmon_span_say_("end", name, NULL);
}

/* Internal: returns whether marks can be sent. */
static inline int bpfmon_takes_marks_(void)
{
	return bpfmon_in_run() || bpfmon_variable_("BPFMON_MARK_SOCKET");
}

/*
 * Begins a phase of the run, called @text, of 1 to 1024 bytes of UTF-8. Returns 0 if it was sent or
 * there is no run, -EINVAL if @text has another length, or another negative errno.
 */
static inline int bpfmon_mark(const char *text)
{
	struct bpfmon_text t;
	size_t length;

	if (!bpfmon_takes_marks_())
		return 0;
	length = strlen(text);
	if (!length || length > BPFMON_MARK_BYTES)
		return -EINVAL;
	t.used = 0;
	t.is_full = 0;
	bpfmon_puts_(&t, "mark ");
	bpfmon_put_(&t, text, length);
	return bpfmon_push_(&t);
}

/*
 * Adds metrics to the run: lines of Influx line protocol, as in "loss,phase=train
 * value=0.5,step=7i". Returns like bpfmon_mark(). The run counts malformed lines ("pushed" in its
 * summary).
 */
static inline int bpfmon_metric_line(const char *line)
{
	struct bpfmon_text t;

	if (!bpfmon_takes_marks_())
		return 0;
	t.used = 0;
	t.is_full = 0;
	bpfmon_puts_(&t, " "); /* so that a metric called "mark" is no mark */
	bpfmon_puts_(&t, line);
	return bpfmon_push_(&t);
}

/*
 * Adds a number to the run, as the field "value" of the metric @name. A control character in @name
 * becomes a blank. Returns like bpfmon_mark(); -EINVAL if @value is infinite or NaN, or @name is
 * empty or begins with "#".
 */
static inline int bpfmon_metric(const char *name, double value)
{
	struct bpfmon_text t;
	char digits[64], *c;

	if (!bpfmon_takes_marks_())
		return 0;
	if (!(value - value >= 0) || !*name || *name == '#')
		return -EINVAL;
	t.used = 0;
	t.is_full = 0;
	bpfmon_puts_(&t, " ");
	bpfmon_put_name_(&t, name);
	bpfmon_puts_(&t, " value=");
	snprintf(digits, sizeof(digits), "%.17g", value);
	for (c = digits; *c; c++) /* the decimal point depends on the locale */
		if (strchr("+-e0123456789", *c))
			bpfmon_put_(&t, c, 1);
		else if (c > digits && strchr("0123456789", c[-1]))
			bpfmon_put_(&t, ".", 1);
	return bpfmon_push_(&t);
}

#ifdef __cplusplus
namespace bpfmon
{

/* Makes a block a span: bpfmon::span here("load"); an exception also ends it. */
class span
{
      public:
	explicit span(const char *name, const char *const *tags = NULL)
	    : name_(name), number(bpfmon_span_begin_tags(name, tags))
	{
	}
	~span()
	{
		if (number > 0)
			bpfmon_span_end(name_);
	}

      private:
	span(const span &);
	span &operator=(const span &);

	const char *name_; /* not owned */

      public:
	const long number; /* return value of bpfmon_span_begin_tags() */
};

} /* namespace bpfmon */
#endif

#endif
