// SPDX-License-Identifier: BSD-2-Clause
#include "view/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#define DEFAULT_WIDTH 120 /* where there is no terminal */
#define LARGEST_WIDTH 10000

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
