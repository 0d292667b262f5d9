// SPDX-License-Identifier: BSD-2-Clause
#include "text/summary_markdown.h"

#include "base/cleanup.h"
#include "run/tree.h"
#include "text/format.h"
#include "text/instances_text.h"
#include "text/markdown.h"
#include "text/meta_text.h"
#include "text/summary_parts.h"

#include <inttypes.h>
#include <string.h>

#define HEADING_COLUMNS 80
#define FACT_COLUMNS 200
#define NAME_COLUMNS 100
#define PROGRAMS_SHOWN 10
#define PROGRAMS_TITLE "  program " /* begins the table of the summary's text */

static void meta_write_heading(FILE *f, const json_t *meta)
{
	const char *name = json_string_value(json_object_get(meta, "name"));

	if (name)
		fputs(name, f);
	else
		tree_print_words(f, json_object_get(meta, "command"));
}

static void meta_write_facts(FILE *f, const json_t *meta)
{
	meta_text(f, meta, FACT_COLUMNS);
}

void meta_markdown(FILE *f, const json_t *meta)
{
	__cleanup(freep) char *heading = meta_made(meta, meta_write_heading);
	__cleanup(freep) char *facts = meta_made(meta, meta_write_facts);

	if (!heading || !facts)
		return;
	fputs("### ", f);
	markdown_code(f, *heading ? heading : "bpfmon", HEADING_COLUMNS, false);
	fputc('\n', f);
	markdown_facts(f, facts);
}

/* A value that was not read is "-", not zero. */
static void program_put_cells(FILE *f, const struct program *p)
{
	char a[FORMAT_BYTES];
	bool has_cpu = metric_has(&p->have, M_cpu), has_read = metric_has(&p->have, M_read),
	     has_written = metric_has(&p->have, M_write);

	fprintf(f, " | %s", format_count(a, p->processes));
	fprintf(f, " | %s", has_cpu ? format_seconds(a, p->value[M_cpu]) : "-");
	fprintf(f, " | %s", p->has_rss_peak ? format_bytes(a, p->rss_peak_bytes) : "-");
	fprintf(f, " | %s", has_read ? format_bytes(a, p->value[M_read]) : "-");
	fprintf(f, " | %s |\n", has_written ? format_bytes(a, p->value[M_write]) : "-");
}

static void programs_markdown(FILE *f, const struct summary *s)
{
	static const char *const titles[] = { "program",  "processes", "CPU",
					      "peak RSS", "read",      "written" };
	size_t shown = s->nr_programs < PROGRAMS_SHOWN ? s->nr_programs : PROGRAMS_SHOWN;

	markdown_head(f, titles, sizeof(titles) / sizeof(*titles));
	for (size_t i = 0; i < shown; i++) {
		const struct program *p = &s->programs[i];

		fputs("| ", f);
		markdown_code(f, p->exe ? p->exe : "(unknown)", NAME_COLUMNS, true);
		program_put_cells(f, p);
	}
	if (shown < s->nr_programs)
		fprintf(f, "\nand %zu programs more\n", s->nr_programs - shown);
}

/* As lines of code, out of which no name leads. */
static void instances_markdown(FILE *f, const struct summary *s)
{
	__cleanup(freep) char *text = NULL;
	size_t length;
	FILE *lines = open_memstream(&text, &length);

	if (!lines)
		return;
	instances_text(lines, s, 0);
	latencies_text(lines, s);
	if (fclose(lines))
		return;
	for (const char *at = text, *end; *at; at = end + 1) {
		end = strchrnul(at, '\n');
		fprintf(f, end > at ? "    %.*s\n" : "%.*s\n", (int)(end - at), at);
		if (!*end)
			break;
	}
}

void summary_markdown(FILE *f, const struct summary *s, const struct summary_view *view)
{
	static const struct summary_view none = { 0 };
	struct summary_view without = view ? *view : none;
	__cleanup(freep) char *text = NULL;
	char *part, *end;

	without.is_without_instances = true;
	text = summary_text(s, &without, 0);
	part = text;

	for (; part && *part; part = end) {
		end = strstr(part, "\n\n");
		if (end)
			*end = '\0';
		end = end ? end + 2 : part + strlen(part);
		if (!strncmp(part, PROGRAMS_TITLE, strlen(PROGRAMS_TITLE)))
			programs_markdown(f, s);
		else
			markdown_facts(f, part);
	}
	instances_markdown(f, s);
}
