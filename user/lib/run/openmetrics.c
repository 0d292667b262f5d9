// SPDX-License-Identifier: BSD-2-Clause
#include "run/openmetrics.h"

#include <string.h>

static void openmetrics_put_escaped(struct buffer *t, const char *s)
{
	bool is_control;

	for (size_t n; *s; s += n) {
		n = buffer_character_bytes(s, strlen(s), &is_control);
		if (*s == '\\' || *s == '"')
			buffer_puts(t, "\\");
		if (*s == '\n')
			buffer_puts(t, "\\n");
		else
			buffer_put_inert(t, s, n);
	}
}

void openmetrics_put_label(struct buffer *t, const char *key, const char *value)
{
	buffer_puts(t, t->used ? "," : "{");
	buffer_puts(t, key);
	buffer_puts(t, "=\"");
	openmetrics_put_escaped(t, value);
	buffer_puts(t, "\"");
}

static const char *family_suffix(const struct family *f)
{
	return f->kind == KIND_COUNTER ? "_total" : "";
}

void openmetrics_put_name(struct buffer *t, const struct family *f)
{
	buffer_puts(t, f->prefix);
	buffer_puts(t, f->key);
	buffer_puts(t, family_suffix(f));
}

void openmetrics_put_family(struct buffer *t, const struct family *f, enum exposition as)
{
	const char *suffix = as == EXPOSITION_PLAIN ? family_suffix(f) : "";
	const char *unit = metric_unit_word(f->unit);

	buffer_printf(t, "# HELP %s%s%s %s%s\n", f->prefix, f->key, suffix, f->help,
		      f->help_end ? f->help_end : "");
	buffer_printf(t, "# TYPE %s%s%s %s\n", f->prefix, f->key, suffix,
		      f->kind == KIND_COUNTER ? "counter" : "gauge");
	if (*unit && as == EXPOSITION_OPENMETRICS)
		buffer_printf(t, "# UNIT %s%s %s\n", f->prefix, f->key, unit);
}

void openmetrics_put_sample(struct buffer *t, const struct family *f, const struct buffer *labels,
			    uint64_t value)
{
	openmetrics_put_name(t, f);
	buffer_put(t, labels->text, labels->used);
	buffer_puts(t, " ");
	buffer_put_decimal(t, value, metric_unit_decimals(f->unit));
	buffer_puts(t, "\n");
}
