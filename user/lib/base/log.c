// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.h"

#include "base/clock.h"
#include "base/memory.h"
#include "base/patience.h"
#include "base/progress.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INFOS_AT_ONCE 200 /* more than any run logs at its start */
#define INFOS_A_SECOND 10

static enum log_level shown = LOG_NORMAL;
static struct patience patience = { .watched_fd = -1, .limit_ns = NSEC_PER_SEC };
static bool is_hurried;
static atomic_size_t failures_reported;

bool log_has_unreported_failure(void)
{
	return memory_failures() > failures_reported;
}

/* An allocation that failed since the last line may be the cause of this one. */
static const char *log_memory_cause(const char *text)
{
	bool is_cause = log_has_unreported_failure();

	failures_reported = memory_failures();
	return is_cause && !strstr(text, "memory") ? "out of memory: " : "";
}

void log_set_level(enum log_level level)
{
	shown = level;
}

void log_limit_waits(void)
{
	is_hurried = true;
}

/* Returns whether stderr is the journal, which removes a priority in front of a line. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long device, inode;
	struct stat st;

	return stream && sscanf(stream, "%lu:%lu", &device, &inode) == 2 &&
	       !fstat(STDERR_FILENO, &st) && st.st_dev == device && st.st_ino == inode;
}

/* @priority as in sd-daemon(3). */
static void log_write(const char *priority, const char *prefix, const char *format, va_list args)
{
	char text[2048], line[sizeof(text) + 64];
	size_t done;
	int n;

	vsnprintf(text, sizeof(text), format, args);
	snprintf(line, sizeof(line) - 1, "%sbpfmon: %s%s%s", stderr_is_journal() ? priority : "",
		 prefix, log_memory_cause(text), text);
	text_disarm(line); /* names in the message are untrusted */
	n = (int)strlen(line);
	line[n++] = '\n';
	progress_clear();
	/* if this fails, there is no other place to report it */
	patience_write(is_hurried ? &patience : NULL, STDERR_FILENO, line, (size_t)n, &done);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("<3>", "", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("<4>", "warning: ", format, args);
	va_end(args);
}

void log_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_write("<5>", "", format, args);
	va_end(args);
}

/* Limits lines that clients can cause at will. Counts the omitted ones. */
static bool info_has_room(void)
{
	static atomic_int room = INFOS_AT_ONCE;
	static atomic_ullong at_s;
	static atomic_size_t left_out;
	unsigned long long now_s = clock_ns(CLOCK_MONOTONIC) / NSEC_PER_SEC;
	unsigned long long since_s = now_s - atomic_exchange(&at_s, now_s);
	size_t n;

	if (since_s >= INFOS_AT_ONCE / INFOS_A_SECOND ||
	    room + (int)since_s * INFOS_A_SECOND > INFOS_AT_ONCE)
		room = INFOS_AT_ONCE;
	else
		room += (int)since_s * INFOS_A_SECOND;
	if (room <= 0) {
		left_out++;
		return false;
	}
	room--;
	n = atomic_exchange(&left_out, 0);
	if (n)
		log_note("%zu messages suppressed here", n);
	return true;
}

void log_info(const char *format, ...)
{
	va_list args;

	if (shown < LOG_VERBOSE || !info_has_room())
		return;
	va_start(args, format);
	log_write("<6>", "", format, args);
	va_end(args);
}
