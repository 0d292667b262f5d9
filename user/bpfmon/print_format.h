/* SPDX-License-Identifier: BSD-2-Clause */
/* How a subcommand prints what it has found: the option --format, and --json for one of them. */
#ifndef BPFMON_PRINT_FORMAT_H
#define BPFMON_PRINT_FORMAT_H

enum print_format {
	PRINT_TEXT, /* for people; the default */
	PRINT_JSON, /* an object, or one a line where there are several; each names its schema */
	PRINT_MARKDOWN,
	PRINT_CSV,
};

/*
 * Parsers of rows, of an enum print_format: text or json; markdown as well; all of them; all
 * but markdown; and --csv and --json. 0, or -EINVAL: it is none of these.
 */
int print_json_or_text_parse(void *as, const char *text);
int print_markdown_parse(void *as, const char *text);
int print_any_parse(void *as, const char *text);
int print_list_parse(void *as, const char *text);
int print_csv_parse(void *as, const char *text);
int print_json_parse(void *as, const char *text);

#endif
