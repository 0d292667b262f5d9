// SPDX-License-Identifier: BSD-2-Clause
#include "base/progress.h"

#include "base/clock.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define FIRST_NS (500 * NSEC_PER_MSEC)
#define BETWEEN_NS (200 * NSEC_PER_MSEC)

/* One per process, like stderr. */
static struct {
	bool is_on, is_shown;
	const char *what, *unit;
	uint64_t total, done;
	uint64_t next_ns; /* next time to draw */
} work;

static bool terminal_can_erase(void)
{
	const char *kind = getenv("TERM");

	return kind && *kind && strcmp(kind, "dumb") != 0 && isatty(STDERR_FILENO);
}

void progress_begin(const char *what, const char *unit, uint64_t total)
{
	progress_end();
	work.is_on = terminal_can_erase();
	if (!work.is_on)
		return;
	work.what = what;
	work.unit = unit;
	work.total = total;
	work.done = 0;
	work.next_ns = clock_ns(CLOCK_MONOTONIC) + FIRST_NS;
}

/* Does not wait for a terminal that takes nothing: only a line of progress is lost. */
static void progress_write(const char *text, size_t n)
{
	if (write(STDERR_FILENO, text, n) < 0)
		work.is_on = false;
}

static void progress_draw(void)
{
	char text[256], count[64];
	struct winsize size;
	int n;

	if (work.total)
		snprintf(count, sizeof(count), "%" PRIu64 " of %" PRIu64, work.done, work.total);
	else
		snprintf(count, sizeof(count), "%" PRIu64, work.done);
	n = snprintf(text, sizeof(text) - 4, "\rbpfmon: %s: %s %s", work.what, count, work.unit);
	if (n >= (int)sizeof(text) - 4)
		n = (int)sizeof(text) - 5;
	text_disarm(text + 1);
	if (!ioctl(STDERR_FILENO, TIOCGWINSZ, &size) && size.ws_col && n > size.ws_col)
		n = size.ws_col;
	n += snprintf(text + n, sizeof(text) - (size_t)n, "\x1b[K");
	progress_write(text, (size_t)n);
	work.is_shown = true;
}

void progress_add(uint64_t steps)
{
	uint64_t now_ns;

	if (!work.is_on)
		return;
	work.done += steps;
	now_ns = clock_ns(CLOCK_MONOTONIC);
	if (now_ns < work.next_ns)
		return;
	work.next_ns = now_ns + BETWEEN_NS;
	progress_draw();
}

void progress_clear(void)
{
	if (work.is_shown)
		progress_write("\r\x1b[K", 4);
	work.is_shown = false;
}

void progress_set_shown(bool is_shown)
{
	work.is_shown = is_shown;
}

void progress_end(void)
{
	progress_clear();
	work.is_on = false;
}
