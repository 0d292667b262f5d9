// SPDX-License-Identifier: BSD-2-Clause
/* One line per event, appended by one write(): it grows no memory but the page cache. */
#include "torture.h"

static int log_fd = -1;
static unsigned names;

void log_open(void)
{
	const char *path = getenv("TRUTH_LOG");

	log_fd = open(path ? path : "/dev/null", O_WRONLY | O_APPEND | O_CLOEXEC);
	if (log_fd < 0)
		truth_fail("%s", path);
}

/* Writes "NS PROCESS SPACE WORD..." and returns the NS. */
int64_t log_note(const struct actor *a, const char *fmt, ...)
{
	int64_t now = clock_ns(CLOCK_MONOTONIC);
	char buf[256];
	uint64_t owner;
	unsigned image;
	va_list ap;
	int len;

	space_names(&owner, &image);
	len = snprintf(buf, sizeof(buf), "%lld %llx %llx.%u ", (long long)now,
		       (unsigned long long)a->process, (unsigned long long)owner, image);
	va_start(ap, fmt);
	len += vsnprintf(buf + len, sizeof(buf) - len, fmt, ap);
	va_end(ap);
	buf[len++] = '\n';
	if (write(log_fd, buf, len) != len)
		truth_fail("the log");
	return now;
}

/* Unique in the run: the PID, the time, and a count, which begins anew in each image. */
uint64_t log_new_name(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ((uint64_t)getpid() << 40) | ((uint64_t)(ts.tv_nsec / 1024) << 16 & 0xffffff0000) |
	       (__atomic_add_fetch(&names, 1, __ATOMIC_RELAXED) & 0xffff);
}
