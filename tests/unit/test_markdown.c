// SPDX-License-Identifier: BSD-2-Clause
/* Untrusted texts in Markdown, and lines of the summary as a table. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "text/markdown.h"

#include <stdlib.h>

/* What @write makes of @text. */
static void assert_made(void (*write)(FILE *f, const char *text), const char *text, const char *is)
{
	char *made = NULL;
	size_t length;
	FILE *f = open_memstream(&made, &length);

	assert_non_null(f);
	write(f, text);
	fclose(f);
	assert_string_equal(made, is);
	free(made);
}

static void cell_put(FILE *f, const char *text)
{
	markdown_code(f, text, 20, true);
}

static void heading_put(FILE *f, const char *text)
{
	markdown_code(f, text, 20, false);
}

static void what_markdown_or_html_would_take_is_escaped(void **state)
{
	(void)state;
	assert_made(markdown_text, "<b>&[x](y)*a*|`c`\\",
		    "\\<b\\>&amp;\\[x\\](y)\\*a\\*\\|\\`c\\`\\\\");
	assert_made(markdown_text, "rss_bytes _a_ \xc3\xa4\x1b[m",
		    "rss_bytes \\_a\\_ \xc3\xa4?\\[m");
}

static void code_has_a_fence_that_is_not_in_it(void **state)
{
	(void)state;
	assert_made(cell_put, "a|b", "`a\\|b`");
	assert_made(heading_put, "a|b", "`a|b`");
	assert_made(cell_put, "a`b``c", "```a`b``c```");
	assert_made(cell_put, "`x`", "`` `x` ``");
	assert_made(cell_put, "", "`  `");
	assert_made(cell_put, "a\nb\x1b", "`a?b?`");
}

static void lines_of_a_summary_become_a_table(void **state)
{
	(void)state;
	assert_made(markdown_facts,
		    "bpfmon: the command ended with 0\n"
		    "  CPU         1 s|\n"
		    "              more\n"
		    "  faults      2\n"
		    "\n"
		    "  complete: nothing was lost\n",
		    "\n**the command ended with 0**\n"
		    "\n| | |\n|:---|:---|\n| CPU | 1 s\\|<br>more |\n| faults | 2 |\n"
		    "\ncomplete: nothing was lost\n");
	assert_made(markdown_facts, "  command     a *b*\n",
		    "\n| | |\n|:---|:---|\n| command | `a *b*` |\n");
}

static void a_sentence_is_no_row(void **state)
{
	(void)state;
	assert_made(markdown_facts, "  request 580 MiB (peak 522 MiB)\n",
		    "\nrequest 580 MiB (peak 522 MiB)\n");
}

static void a_block_ends_where_it_should(void **state)
{
	(void)state;
	assert_made(markdown_block, "```\n", "\n``````text\n```\n``````\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_markdown_or_html_would_take_is_escaped),
		cmocka_unit_test(code_has_a_fence_that_is_not_in_it),
		cmocka_unit_test(lines_of_a_summary_become_a_table),
		cmocka_unit_test(a_sentence_is_no_row),
		cmocka_unit_test(a_block_ends_where_it_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
