// SPDX-License-Identifier: BSD-2-Clause
#include "text/limit_text.h"

#include "text/format.h"

#include <stdlib.h>
#include <string.h>

#define NAME_COLUMNS 32

static const char *limit_format(char *out, const struct limit_hit *hit)
{
	switch (hit->unit) {
	case UNIT_BYTES:
		return format_bytes(out, hit->value);
	case UNIT_NS:
		return format_seconds(out, hit->value);
	case UNIT_MILLI:
		snprintf(out, FORMAT_BYTES, "%.3f", (double)hit->value / 1000);
		return out;
	default:
		return format_count(out, hit->value);
	}
}

/* Then that process has all of it. */
static bool limit_is_of_process(const struct limit_hit *hit)
{
	const char *word = limit_of_words[LIMIT_OF_PROCESS];

	return !strncmp(hit->text, word, strlen(word));
}

void limit_text(FILE *f, const struct limit_hit *hit)
{
	char value[FORMAT_BYTES], elapsed[FORMAT_BYTES];

	format_name(f, hit->text, LIMIT_TEXT);
	fprintf(f, ": %s after %s", limit_format(value, hit),
		format_seconds(elapsed, hit->elapsed_ns));
	if (hit->is_contradicted) {
		fprintf(f, ", but only %s without counting shared pages twice",
			format_bytes(value, hit->needed_bytes));
		return;
	}
	if (hit->span) {
		fputs(", in the span ", f);
		format_name(f, hit->span_name, NAME_COLUMNS);
	}
	if (!hit->has_process)
		return;
	fputs(limit_is_of_process(hit) ? ", in " : ", most of it in ", f);
	format_name(f, hit->comm, NAME_COLUMNS);
	fprintf(f, " (%d)", hit->pid);
}

char *limit_text_make(const struct limit_hit *hit)
{
	char *text = NULL;
	size_t length;
	FILE *f = open_memstream(&text, &length);

	if (f)
		limit_text(f, hit);
	if (f && !fclose(f))
		return text;
	free(text);
	return NULL;
}
