/* SPDX-License-Identifier: BSD-2-Clause */
/* The manual page, opened where a subcommand has its section. */
#ifndef BPFMON_MANUAL_H
#define BPFMON_MANUAL_H

#include <stddef.h>

/*
 * Shows the page at the section of subcommand @name (NULL: at its beginning): in a pager if stdout
 * is a terminal, and then it does not return; else the section as text. It is the page beside the
 * program that runs, installed or not, else the one that man finds. -ENOENT: there is no man, or
 * no page.
 */
int manual_show(const char *name);
/*
 * The line, from 1 on, at which the formatted @text has the section of @name: a heading "bpfmon
 * NAME", or NAME in capitals, behind the synopsis; 0: it has none. *@lines: how many belong to it.
 */
size_t manual_find_section(const char *text, const char *name, size_t *lines);

#endif
