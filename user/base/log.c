// SPDX-License-Identifier: BSD-2-Clause
#include "base/log.h"

#include "base/patience.h"
#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static enum log_level shown = LOG_NORMAL;
static struct patience patience = { .watched_fd = -1, .limit_ns = NSEC_PER_SEC };
static bool is_hurried;

void log_set_level(enum log_level level)
{
	shown = level;
}

void log_hurry(void)
{
	is_hurried = true;
}

static void put(const char *prefix, const char *format, va_list args)
{
	char line[2048];
	int n = snprintf(line, sizeof(line), "bpfmon: %s", prefix);
	int m = vsnprintf(line + n, sizeof(line) - n - 1, format, args);
	size_t done;

	n += m;
	if (n > (int)sizeof(line) - 2)
		n = sizeof(line) - 2;
	line[n] = '\0';
	text_disarm(line); /* names are in it that others have chosen */
	n = (int)strlen(line);
	line[n++] = '\n';
	/* should it fail, there is nobody left to report that to */
	patience_write(is_hurried ? &patience : NULL, STDERR_FILENO, line, (size_t)n, &done);
}

void log_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put("", format, args);
	va_end(args);
}

void log_warn(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	put("warning: ", format, args);
	va_end(args);
}

void log_info(const char *format, ...)
{
	va_list args;

	if (shown < LOG_VERBOSE)
		return;
	va_start(args, format);
	put("", format, args);
	va_end(args);
}
