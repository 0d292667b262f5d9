/* SPDX-License-Identifier: BSD-2-Clause */
/* Formats the facts of the meta line of a run, such as its command and start. */
#ifndef TEXT_META_TEXT_H
#define TEXT_META_TEXT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the name, if any, then the command or what was attached to. May write nothing. */
void meta_write_subject(FILE *f, const json_t *meta);
/*
 * Returns the title of a run in one line: its name, else its command or what was attached to; its
 * tags; its start. The caller frees it. NULL if @meta has none of these, or without memory.
 */
char *meta_title(const json_t *meta);
/* Returns true for a job of the node that is made of cgroups, not of a process and its descendants.
 */
bool meta_is_of_job(const json_t *meta);
/* Writes a line for each value of @meta that is present, cut at @width columns. */
void meta_text(FILE *f, const json_t *meta, size_t width);
/* Returns what @write wrote. The caller frees it. NULL without memory. */
char *meta_format(const json_t *meta, void (*write)(FILE *f, const json_t *meta));

#endif
