// SPDX-License-Identifier: BSD-2-Clause
#include "text/heaviest_text.h"

#include "text/format.h"

#define NAME_COLUMNS 25 /* the others are 51 and more */

/* clang-format off */
static const struct column {
	const char *title;
	int width;
	enum metric_id id;
	char *(*format)(char *out, uint64_t v);
} columns[] = {
	{ "resident",  10, M_rss,      format_bytes },
	{ "anonymous", 10, M_rss_anon, format_bytes },
	{ "swapped",    9, M_swap,     format_bytes },
	{ "CPU",       10, M_cpu,      format_seconds },
};
/* clang-format on */
#define NR_COLUMNS (sizeof(columns) / sizeof(*columns))

static void heaviest_put_head(FILE *f, const char *when, uint64_t elapsed_ns)
{
	char at[FORMAT_BYTES], title[FORMAT_BYTES + 16];

	snprintf(title, sizeof(title), "%s (%s)", when, format_seconds(at, elapsed_ns));
	fprintf(f, "\n  %-*s %8s", NAME_COLUMNS, title, "pid");
	for (size_t i = 0; i < NR_COLUMNS; i++)
		fprintf(f, " %*s", columns[i].width, columns[i].title);
	fputc('\n', f);
}

/* A value that was not read is "-", not zero. */
static void heaviest_put_row(FILE *f, const struct process_sample *p)
{
	char text[FORMAT_BYTES];

	fputs("  ", f);
	format_padded(f, p->comm[0] ? p->comm : "(unknown)", NAME_COLUMNS);
	fprintf(f, " %8d", p->pid);
	for (size_t i = 0; i < NR_COLUMNS; i++) {
		const struct column *c = &columns[i];
		bool is_known = metric_has(&p->have, c->id);

		fprintf(f, " %*s", c->width, is_known ? c->format(text, p->value[c->id]) : "-");
	}
	fputc('\n', f);
}

void heaviest_text(FILE *f, const char *when, const struct process_sample *rows, size_t nr)
{
	if (nr)
		heaviest_put_head(f, when, rows->elapsed_ns);
	for (size_t i = 0; i < nr; i++)
		heaviest_put_row(f, &rows[i]);
}
