// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/print_format.h"

#include "bpfmon/option_values.h"

#include <errno.h>
#include <string.h>

static const char *const names[] = {
	[PRINT_TEXT] = "text",
	[PRINT_JSON] = "json",
	[PRINT_MARKDOWN] = "markdown",
	[PRINT_CSV] = "csv",
};

/* @last: those up to it are taken. */
static int print_format_parse(enum print_format *as, const char *text, enum print_format last)
{
	int at = word_find(names, (size_t)last + 1, text);

	if (at < 0)
		return at;
	*as = (enum print_format)at;
	return 0;
}

int print_json_or_text_parse(void *as, const char *text)
{
	return print_format_parse(as, text, PRINT_JSON);
}

int print_markdown_parse(void *as, const char *text)
{
	return print_format_parse(as, text, PRINT_MARKDOWN);
}

int print_any_parse(void *as, const char *text)
{
	return print_format_parse(as, text, PRINT_CSV);
}

int print_list_parse(void *as, const char *text)
{
	if (!strcmp(text, names[PRINT_MARKDOWN]))
		return -EINVAL;
	return print_any_parse(as, text);
}

int print_csv_parse(void *as, const char *text)
{
	(void)text;
	*(enum print_format *)as = PRINT_CSV;
	return 0;
}

int print_json_parse(void *as, const char *text)
{
	(void)text;
	*(enum print_format *)as = PRINT_JSON;
	return 0;
}
