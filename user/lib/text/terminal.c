// SPDX-License-Identifier: BSD-2-Clause
#include "text/terminal.h"

#include "base/memory.h"
#include "text/format.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 120 /* without a terminal */
#define LARGEST_WIDTH 10000

#define ALARM_BEGIN "\x1b[31m"   /* red */
#define RUNNING_BEGIN "\x1b[34m" /* blue */
#define COLOUR_END "\x1b[0m"

/* Inherited by the roles that the process forks. */
static enum colour_choice colour;

void terminal_choose_colour(enum colour_choice choice)
{
	colour = choice;
}

bool terminal_has_colour(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *kind = getenv("TERM");

	if (colour != COLOUR_AUTO)
		return colour == COLOUR_ALWAYS;
	return !(no && *no) && kind && strcmp(kind, "dumb") != 0 && isatty(fileno(f));
}

void terminal_begin_alarm(FILE *f)
{
	if (terminal_has_colour(f))
		fputs(ALARM_BEGIN, f);
}

void terminal_begin_running(FILE *f)
{
	if (terminal_has_colour(f))
		fputs(RUNNING_BEGIN, f);
}

void terminal_end_alarm(FILE *f)
{
	if (terminal_has_colour(f))
		fputs(COLOUR_END, f);
}

char *terminal_paint(char *text, FILE *f)
{
	char *painted = NULL;
	size_t length;
	FILE *to = text && terminal_has_colour(f) ? memory_open_memstream(&painted, &length) : NULL;

	if (text && !to)
		format_drop_styles(text);
	if (!to)
		return text;
	for (const char *at = text; *at;) {
		size_t n = strcspn(at, STYLED_MARKS);

		fwrite(at, 1, n, to);
		at += n;
		if (*at)
			fputs(*at == *STYLED_ALARM     ? ALARM_BEGIN
			      : *at == *STYLED_RUNNING ? RUNNING_BEGIN
						       : COLOUR_END,
			      to);
		at += *at != '\0';
	}
	if (fclose(to)) {
		free(painted);
		format_drop_styles(text);
		return text;
	}
	free(text);
	return painted;
}

size_t terminal_limit(FILE *f)
{
	const char *columns = getenv("COLUMNS");
	long asked = columns ? strtol(columns, NULL, 10) : 0;
	struct winsize size;

	if (asked > 0 && asked < LARGEST_WIDTH)
		return (size_t)asked;
	if (!ioctl(fileno(f), TIOCGWINSZ, &size) && size.ws_col)
		return size.ws_col;
	return 0;
}

size_t table_width(FILE *f)
{
	size_t limit = terminal_limit(f);

	return limit ? limit : TEXT_UNCUT;
}

size_t terminal_width(FILE *f)
{
	size_t limit = terminal_limit(f);

	return limit ? limit : DEFAULT_WIDTH;
}

bool terminal_is_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", NULL);
	bool is_utf8 = locale && !strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return is_utf8;
}
