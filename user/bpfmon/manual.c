// SPDX-License-Identifier: BSD-2-Clause
#include "bpfmon/manual.h"

#include "base/clock.h"
#include "base/user.h"
#include "bpfmon/roles/capture.h"
#include "text/terminal.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE_NS (20 * NSEC_PER_SEC) /* with man, on a machine that is busy */
#define HEADING_INDENT 7                /* a heading stands no further in; text does */

/* A line of formatted text, without its newline. */
struct page_line {
	const char *text;
	size_t length, indent;
};

static bool page_line_next(const char **at, struct page_line *l)
{
	if (!**at)
		return false;
	l->indent = strspn(*at, " ");
	l->text = *at + l->indent;
	l->length = strcspn(l->text, "\n");
	*at = l->text + l->length;
	*at += **at == '\n';
	while (l->length && l->text[l->length - 1] == ' ')
		l->length--;
	return true;
}

/* Whether it is "bpfmon NAME", or at the margin NAME in capitals; at a small indent more may
 * follow. */
static bool line_is_heading(const struct page_line *l, const char *name)
{
	static const char program[] = "bpfmon ";
	size_t n = strlen(name), prefix = strlen(program);
	bool is_capital = !l->indent && l->length == n;

	for (size_t i = 0; is_capital && i < n; i++)
		is_capital = l->text[i] == toupper((unsigned char)name[i]);
	if (is_capital)
		return true;
	if (l->indent > HEADING_INDENT || l->length < prefix + n ||
	    memcmp(l->text, program, prefix) != 0 || memcmp(l->text + prefix, name, n) != 0)
		return false;
	return l->length == prefix + n ||
	       (l->indent < HEADING_INDENT && l->text[prefix + n] == ' ');
}

size_t manual_find_section(const char *text, const char *name, size_t *lines)
{
	bool is_synopsis = false;
	size_t nr = 0, found = 0, indent = 0;
	struct page_line l;

	*lines = 0;
	while (page_line_next(&text, &l)) {
		nr++;
		if (found && l.length && l.indent <= indent)
			break;
		if (!l.indent && l.length)
			is_synopsis = l.length == strlen("SYNOPSIS") &&
				      !memcmp(l.text, "SYNOPSIS", l.length);
		if (!found && !is_synopsis && line_is_heading(&l, name)) {
			found = nr;
			indent = l.indent;
		}
		if (found && l.length)
			*lines = nr - found + 1;
	}
	return found;
}

/* In a checkout the page is beside the folder of the build, installed it is below share. */
static void page_find(char page[PATH_MAX])
{
	static const char *const places[] = { "../docs/bpfmon.1", "../share/man/man1/bpfmon.1",
					      "../share/man/man1/bpfmon.1.gz" };
	char program[PATH_MAX - 64], path[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	char *slash;

	program[n > 0 ? n : 0] = '\0';
	slash = strrchr(program, '/');
	for (size_t i = 0; slash && i < sizeof(places) / sizeof(*places); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", (int)(slash - program), program, places[i]);
		if (!access(path, R_OK) && realpath(path, page))
			return;
	}
	snprintf(page, PATH_MAX, "bpfmon");
}

/* Of a pager that takes "+LINE"; the user's own choice is left to man. */
static bool pager_takes_a_line(void)
{
	const char *pager = getenv("MANPAGER");

	if (!pager || !*pager)
		pager = getenv("PAGER");
	return !pager || !*pager || strstr(pager, "less");
}

static void page_open(const char *page, size_t line)
{
	char pager[40];

	if (line && pager_takes_a_line()) {
		snprintf(pager, sizeof(pager), "less -R +%zu", line);
		execlp("man", "man", "-P", pager, page, NULL);
	}
	execlp("man", "man", page, NULL);
}

static void page_print(const char *text, size_t line, size_t lines)
{
	struct page_line l;
	size_t nr = 0;

	while (page_line_next(&text, &l)) {
		nr++;
		if (nr >= line && (!line || nr < line + lines))
			printf("%*s%.*s\n", l.length ? (int)l.indent : 0, "", (int)l.length,
			       l.text);
	}
}

int manual_show(const char *name)
{
	static struct user caller; /* static: large for a stack */
	char page[PATH_MAX], width[24];
	const char *argv[] = { "man", page, NULL };
	size_t line = 0, lines = 0;
	struct captured c;
	bool was_sudo;
	int err;

	/* man and its pager execute what the caller's environment names */
	user_find_caller(&caller, &was_sudo);
	err = was_sudo ? user_become(&caller) : 0;
	if (err)
		return err;
	page_find(page);
	snprintf(width, sizeof(width), "%zu", user_rights_are_lent() ? 80 : terminal_width(stdout));
	if (setenv("MANWIDTH", width, 1))
		return -ENOMEM;
	err = capture_run(argv, NULL, PATIENCE_NS, &c);
	if (err || c.status || !c.text[0]) {
		capture_done(&c);
		return err == -ENOMEM ? err : -ENOENT;
	}
	if (name)
		line = manual_find_section(c.text, name, &lines);
	if (isatty(STDOUT_FILENO))
		page_open(page, line);
	page_print(c.text, line, lines);
	capture_done(&c);
	return 0;
}
