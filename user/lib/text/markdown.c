// SPDX-License-Identifier: BSD-2-Clause
#include "text/markdown.h"

#include "base/memory.h"
#include "base/text.h"
#include "text/format.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define TITLE_AT 2 /* columns of a summary line */
#define TITLE_COLUMNS 11
#define TEXT_AT 14
#define SPECIAL "\\`*[]<>|~$#"
#define HEADLINE "bpfmon: "

/* Within a word, as in rss_bytes, an underscore needs no escape. */
static bool underscore_is_special(char before, char after)
{
	return !isalnum((unsigned char)before) || !isalnum((unsigned char)after);
}

void markdown_text(FILE *f, const char *text)
{
	char before = ' ';

	for (size_t n; *text; before = text[n - 1], text += n) {
		bool is_control;

		n = text_character_bytes(text, &is_control);
		if (is_control)
			fputc('?', f);
		else if (*text == '&')
			fputs("&amp;", f);
		else if (strchr(SPECIAL, *text) ||
			 (*text == '_' && underscore_is_special(before, text[1])))
			fprintf(f, "\\%c", *text);
		else
			fwrite(text, 1, n, f);
	}
}

/* Returns the length of the longest run of backticks; a code fence needs one more. */
static size_t backticks_longest(const char *text)
{
	size_t longest = 0, n;

	for (; *text; text += n ? n : 1) {
		n = strspn(text, "`");
		longest = n > longest ? n : longest;
	}
	return longest;
}

static void fence_put(FILE *f, size_t nr)
{
	while (nr--)
		fputc('`', f);
}

/*
 * Returns @text cut to @width columns, without control characters. The caller frees it. NULL
 * without memory.
 */
static char *text_cut(const char *text, size_t width)
{
	char *cut = NULL;
	size_t length;
	FILE *f = memory_open_memstream(&cut, &length);

	if (!f)
		return NULL;
	format_beginning(f, text, width);
	if (!fclose(f))
		return cut;
	free(cut);
	return NULL;
}

void markdown_code(FILE *f, const char *text, size_t width, bool is_cell)
{
	char *cut = text_cut(text, width);
	size_t fence = cut ? backticks_longest(cut) + 1 : 0;
	bool is_padded = cut && (*cut == '`' || !*cut || cut[strlen(cut) - 1] == '`');

	if (!cut)
		return;
	fence_put(f, fence);
	fputs(is_padded ? " " : "", f);
	for (const char *c = cut; *c; c++) {
		if (is_cell && *c == '|') /* ends the cell even within code */
			fputc('\\', f);
		fputc(*c, f);
	}
	fputs(is_padded ? " " : "", f);
	fence_put(f, fence);
	free(cut);
}

void markdown_head(FILE *f, const char *const *titles, size_t nr)
{
	fputs("\n|", f);
	for (size_t i = 0; i < nr; i++) {
		fputc(' ', f);
		markdown_text(f, titles[i]);
		fputs(" |", f);
	}
	fputs("\n|", f);
	for (size_t i = 0; i < nr; i++)
		fputs(i ? "---:|" : ":---|", f);
	fputc('\n', f);
}

/* Returns the length of the title of a summary line, or 0. */
static size_t line_title(const char *line)
{
	size_t n;

	if (strlen(line) <= TEXT_AT || strncmp(line, "  ", TITLE_AT) != 0 ||
	    line[TEXT_AT - 1] != ' ' || isspace((unsigned char)line[TITLE_AT]))
		return 0;
	for (n = TITLE_COLUMNS; n && line[TITLE_AT + n - 1] == ' '; n--)
		;
	for (size_t i = 0; i < n; i++)
		if (isdigit((unsigned char)line[TITLE_AT + i]) || line[TITLE_AT + i] == ',')
			return 0;
	return n;
}

static void fact_put(FILE *f, char *line, bool *is_in_table)
{
	size_t n = line_title(line);
	bool is_code = n == 7 && !strncmp(line + TITLE_AT, "command", n);

	if (!n) { /* continuation of the last cell */
		fputs("<br>", f);
		markdown_text(f, line + TEXT_AT);
		return;
	}
	fputs(*is_in_table ? " |\n| " : "\n| | |\n|:---|:---|\n| ", f);
	*is_in_table = true;
	line[TITLE_AT + n] = '\0';
	markdown_text(f, line + TITLE_AT);
	fputs(" | ", f);
	if (is_code)
		markdown_code(f, line + TEXT_AT, strlen(line + TEXT_AT), true);
	else
		markdown_text(f, line + TEXT_AT);
}

static void paragraph_put(FILE *f, const char *line)
{
	bool is_headline = !strncmp(line, HEADLINE, strlen(HEADLINE));

	fputs(is_headline ? "\n**" : "\n", f);
	markdown_text(f, is_headline ? line + strlen(HEADLINE) : line + strspn(line, " "));
	fputs(is_headline ? "**\n" : "\n", f);
}

void markdown_facts(FILE *f, const char *lines)
{
	bool is_in_table = false;

	while (*lines) {
		size_t n = strcspn(lines, "\n");
		char *line = memory_strndup(lines, n);
		bool goes_on = is_in_table && n > TEXT_AT && strspn(lines, " ") >= TEXT_AT;

		lines += n + (lines[n] == '\n');
		if (!line)
			return;
		if (line_title(line) || goes_on) {
			fact_put(f, line, &is_in_table);
		} else {
			fputs(is_in_table ? " |\n" : "", f);
			is_in_table = false;
			if (*line)
				paragraph_put(f, line);
		}
		free(line);
	}
	fputs(is_in_table ? " |\n" : "", f);
}

void markdown_block(FILE *f, const char *lines)
{
	size_t fence = backticks_longest(lines) + 3;

	fputc('\n', f);
	fence_put(f, fence);
	fprintf(f, "text\n%s", lines);
	fence_put(f, fence);
	fputc('\n', f);
}
