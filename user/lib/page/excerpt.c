// SPDX-License-Identifier: BSD-2-Clause
#include "page/excerpt.h"

#include "base/memory.h"
#include "base/number.h"
#include "base/text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MICRO 1e6
#define LEAST_TEXT 32        /* bytes; limit of excerpt_fit() */
#define LARGEST_DECIMAL 9e12 /* a larger double has no exact microseconds */

size_t excerpt_length(const char *text, size_t length, size_t max)
{
	if (length <= max)
		return length;
	while (max && ((unsigned char)text[max] & 0xc0) == 0x80)
		max--;
	return max;
}

char *excerpt_keep_end(const char *text, size_t max)
{
	size_t length = strlen(text), note = strlen(EXCERPT_NOTE);
	const char *from = text + length - (max - note);
	char *cut;

	if (length <= max)
		return memory_strdup(text);
	while (((unsigned char)*from & 0xc0) == 0x80)
		from++;
	return memory_asprintf(&cut, EXCERPT_NOTE "%s", from) < 0 ? NULL : cut;
}

/* Returns the bytes that the character at @s takes in a page, and stores its length in *@length. */
static size_t character_cost(const char *s, size_t *length)
{
	uint32_t character;

	*length = 1;
	if (*s == '"' || *s == '\\')
		return strlen("\\\"");
	if ((unsigned char)*s < 0x20 || *s == 0x7f || *s == '<')
		return strlen("\\u0000");
	if ((unsigned char)*s < 0x80)
		return 1;
	*length = utf8_decode(s, strlen(s), &character);
	if (*length)
		return *length;
	*length = 1;
	return strlen("\xef\xbf\xbd"); /* U+FFFD replaces an invalid byte */
}

size_t excerpt_cost(const char *text)
{
	size_t cost = 0;

	for (size_t length; *text; text += length)
		cost += character_cost(text, &length);
	return cost;
}

/* Skips characters that cost at least @cost or, if @is_limit, at most @cost. */
static const char *excerpt_skip(const char *text, size_t cost, bool is_limit)
{
	for (size_t length, next, used = 0; *text; text += length, used += next) {
		next = character_cost(text, &length);
		if (is_limit ? used + next > cost : used >= cost)
			break;
	}
	return text;
}

void excerpt_put(struct jsonw *j, const char *text, size_t max, enum excerpt_cut cut_at)
{
	size_t cost = excerpt_cost(text), kept = max - strlen(EXCERPT_NOTE);
	char *cut;
	int length;

	if (cost <= max) {
		jsonw_string(j, NULL, text);
		return;
	}
	if (cut_at == CUT_START)
		length = memory_asprintf(&cut, EXCERPT_NOTE "%s",
					 excerpt_skip(text, cost - kept, false));
	else
		length = memory_asprintf(&cut, "%.*s" EXCERPT_NOTE,
					 (int)(excerpt_skip(text, kept, true) - text), text);
	if (length < 0) {
		j->failed = true;
		return;
	}
	jsonw_string(j, NULL, cut);
	free(cut);
}

static void excerpt_write_text(struct jsonw *j, const char *key, const json_t *v, size_t max)
{
	const char *text = json_string_value(v);
	size_t length = json_string_length(v), kept = excerpt_length(text, length, max);
	char *cut;

	if (kept == length) {
		jsonw_bytes(j, key, text, length);
	} else if (memory_asprintf(&cut, "%.*s" EXCERPT_NOTE, (int)kept, text) < 0) {
		j->failed = true;
	} else {
		jsonw_string(j, key, cut);
		free(cut);
	}
}

/* Microseconds are more precise than what a page shows. */
static void excerpt_write_real(struct jsonw *j, const char *key, double v)
{
	if (v >= 0 && v < LARGEST_DECIMAL)
		jsonw_decimal(j, key, number_clamp(v * MICRO), 6);
	else
		jsonw_null(j, key);
}

static void excerpt_write_object(struct jsonw *j, const char *key, const json_t *v, size_t max,
				 size_t items)
{
	json_t *item;
	const char *name;

	jsonw_object(j, key);
	json_object_foreach((json_t *)v, name, item)
		excerpt_write(j, name, item, max, items);
	jsonw_object_end(j);
}

void excerpt_write(struct jsonw *j, const char *key, const json_t *v, size_t max, size_t items)
{
	if (json_is_string(v)) {
		excerpt_write_text(j, key, v, max);
	} else if (json_is_object(v)) {
		excerpt_write_object(j, key, v, max, items);
	} else if (json_is_array(v)) {
		jsonw_array(j, key);
		for (size_t i = 0; i < json_array_size(v) && i < items; i++)
			excerpt_write(j, NULL, json_array_get(v, i), max, items);
		if (json_array_size(v) > items && json_is_string(json_array_get(v, 0)))
			jsonw_string(j, NULL, EXCERPT_NOTE);
		jsonw_array_end(j);
	} else if (json_is_integer(v)) {
		jsonw_int(j, key, json_integer_value(v));
	} else if (json_is_real(v)) {
		excerpt_write_real(j, key, json_real_value(v));
	} else if (json_is_boolean(v)) {
		jsonw_bool(j, key, json_is_true(v));
	} else {
		jsonw_null(j, key);
	}
}

/* Returns the bytes that the text since @start takes in a page, which escapes "<". */
static size_t excerpt_cost_since(const struct jsonw *j, size_t start)
{
	size_t cost = j->used - start;

	for (size_t i = start; i < j->used; i++)
		if (j->text[i] == '<')
			cost += strlen("\\u003c") - 1;
	return cost;
}

void excerpt_fit(struct jsonw *j, const char *key, const json_t *v, size_t max, size_t items,
		 size_t bytes)
{
	const size_t start = j->used;
	const bool needs_comma = j->needs_comma;

	for (;; max /= 2) {
		excerpt_write(j, key, v, max, items);
		if (j->failed || max <= LEAST_TEXT || excerpt_cost_since(j, start) <= bytes)
			return;
		j->used = start;
		j->needs_comma = needs_comma;
	}
}

static bool word_is_plain(const char *text)
{
	return text[0] && !strpbrk(text, " \t\n\"'\\$`;&|<>()*?#~");
}

/*
 * Writes up to @max bytes of @arg. A shell has no escape within single quotes, so a quote is
 * written as '\''.
 */
static void word_put(FILE *f, const char *arg, size_t max)
{
	if (word_is_plain(arg)) {
		fprintf(f, "%.*s", (int)max, arg);
		return;
	}
	fputc('\'', f);
	for (size_t i = 0; arg[i] && i < max; i++)
		if (arg[i] == '\'')
			fputs("'\\''", f);
		else
			fputc(arg[i], f);
	fputc('\'', f);
}

char *excerpt_join(const char *args, size_t length, bool is_cut, size_t max)
{
	const char *end = args + length;
	char *text = NULL;
	size_t used = 0;
	FILE *f = memory_open_memstream(&text, &used);

	if (!f)
		return NULL;
	for (const char *arg = args; arg < end && ftell(f) <= (long)max; arg += strlen(arg) + 1) {
		if (arg > args)
			fputc(' ', f);
		word_put(f, arg, max + 1);
	}
	if (is_cut)
		fputs(EXCERPT_NOTE, f);
	if (fclose(f)) {
		free(text);
		return NULL;
	}
	if (used > max) {
		used = excerpt_length(text, used, max - strlen(EXCERPT_NOTE));
		memcpy(text + used, EXCERPT_NOTE, sizeof(EXCERPT_NOTE));
	}
	return text;
}
