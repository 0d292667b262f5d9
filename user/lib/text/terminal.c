// SPDX-License-Identifier: BSD-2-Clause
#include "text/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define DEFAULT_WIDTH 120 /* where there is no terminal */
#define LARGEST_WIDTH 10000

#define ALARM_BEGIN "\x1b[31m"   /* red */
#define RUNNING_BEGIN "\x1b[34m" /* blue */
#define COLOUR_END "\x1b[0m"

/* Of the process, and of the roles that it forks. */
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

/* Whether the first line of a summary says that the command has failed. */
static bool line_is_of_failure(const char *line, size_t length)
{
	static const char *const how[] = { " was killed ", " ended with " };

	if (strncmp(line, "bpfmon: ", 8) != 0)
		return false;
	for (size_t i = 0; i < sizeof(how) / sizeof(*how); i++) {
		const char *at = memmem(line, length, how[i], strlen(how[i]));

		if (at && (!i || (at[strlen(how[i])] >= '1' && at[strlen(how[i])] <= '9')))
			return true;
	}
	return false;
}

/* How much of the line is coloured, from its first character that is no blank, and *@how. */
static size_t line_coloured_length(const char *line, size_t length, const char **how)
{
	static const char *const words[] = { "  INCOMPLETE:", "  NOT KEPT", "  killed  " };
	static const char running[] = "bpfmon: running, ";

	*how = RUNNING_BEGIN;
	if (!strncmp(line, running, strlen(running)))
		return length;
	*how = ALARM_BEGIN;
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strncmp(line, words[i], strlen(words[i])))
			return strlen(words[i]);
	return line_is_of_failure(line, length) ? length : 0;
}

char *terminal_paint(char *text, FILE *f)
{
	char *painted = NULL;
	size_t length;
	FILE *to = text && terminal_has_colour(f) ? open_memstream(&painted, &length) : NULL;

	if (!to)
		return text;
	for (const char *line = text; *line;) {
		const char *how;
		size_t n = strcspn(line, "\n"), coloured = line_coloured_length(line, n, &how);
		size_t blanks = strspn(line, " ");

		if (coloured)
			fprintf(to, "%.*s%s%.*s" COLOUR_END, (int)blanks, line, how,
				(int)(coloured - blanks), line + blanks);
		n += line[n] == '\n';
		fwrite(line + coloured, 1, n - coloured, to);
		line += n;
	}
	if (fclose(to)) {
		free(painted);
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
