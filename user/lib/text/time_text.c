// SPDX-License-Identifier: BSD-2-Clause
#include "text/time_text.h"

#include "text/format.h"

#include <string.h>

#define INDENT 14
#define BAR_COLUMNS 50
#define LEAST_BAR 10

/* ASCII, and no colour: each part has its letter, the time in which nothing is known to happen a
 * dot. */
static const char letters[NR_TIME_PARTS] = "usqdmi.";

static size_t bar_columns(size_t width)
{
	if (!width || width >= INDENT + BAR_COLUMNS)
		return BAR_COLUMNS;
	return width > INDENT + LEAST_BAR ? width - INDENT : LEAST_BAR;
}

static void time_put_bar(FILE *f, const struct time_parts *t, size_t columns)
{
	unsigned share[NR_TIME_PARTS];

	time_parts_divide(t, (unsigned)columns, share);
	for (int i = 0; i < NR_TIME_PARTS; i++)
		while (share[i]--)
			fputc(letters[i], f);
}

/* Words that stay together, in the line that has used @at columns, or the next; returns what is
 * used. */
static size_t item_put(FILE *f, const char *item, size_t at, size_t width)
{
	size_t columns = strlen(item);

	if (at > INDENT && width && at + 1 + columns > width) {
		fprintf(f, "\n%*s%s", INDENT, "", item);
		return INDENT + columns;
	}
	fprintf(f, "%s%s", at > INDENT ? " " : "", item);
	return at + (at > INDENT) + columns;
}

void time_text(FILE *f, const struct sample *total, size_t width)
{
	struct time_parts t;
	unsigned percent[NR_TIME_PARTS];
	char a[FORMAT_BYTES], item[2 * FORMAT_BYTES];
	size_t at = INDENT;

	if (!time_parts_of(&t, total))
		return;
	time_parts_divide(&t, 100, percent);
	fputs("  time        ", f);
	time_put_bar(f, &t, bar_columns(width));
	fprintf(f, "\n%*s", INDENT, "");
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		if (!t.ns[i])
			continue;
		snprintf(item, sizeof(item), "%c %s %s (%u %%),", letters[i], time_part_name(&t, i),
			 format_seconds(a, t.ns[i]), percent[i]);
		at = item_put(f, item, at, width);
	}
	snprintf(item, sizeof(item), "all threads %s", format_seconds(a, t.total_ns));
	item_put(f, item, at, width);
	fputc('\n', f);
}

void time_json(struct jsonw *j, const struct sample *total)
{
	static const char *const keys[NR_TIME_PARTS] = {
		[TIME_USER] = "user_seconds",     [TIME_SYSTEM] = "system_seconds",
		[TIME_QUEUE] = "queue_seconds",   [TIME_DISK] = "disk_seconds",
		[TIME_MEMORY] = "memory_seconds", [TIME_INTERRUPTS] = "interrupts_seconds",
		[TIME_OTHER] = "other_seconds",
	};
	struct time_parts t;

	if (!time_parts_of(&t, total))
		return;
	jsonw_object(j, "time");
	for (int i = 0; i < NR_TIME_PARTS; i++) {
		bool is_all_else = i == TIME_OTHER && !t.has[TIME_DISK];

		if (t.has[i])
			jsonw_decimal(j, is_all_else ? "not_running_seconds" : keys[i], t.ns[i], 9);
	}
	jsonw_object_end(j);
}
