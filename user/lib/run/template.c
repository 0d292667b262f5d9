// SPDX-License-Identifier: BSD-2-Clause
#include "run/template.h"

#include "base/clock.h"
#include "base/jansson_memory.h"
#include "base/nearest.h"
#include "base/text.h"
#include "run/summary_field.h"
#include "run/tree.h"
#include "run/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define KEY_BYTES 64 /* size of a key with its parts */

#define KEY_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789_."

bool text_is_template(const char *text)
{
	return strpbrk(text, "%{") != NULL;
}

/* Returns the length of the key after the brace at @at, or 0 if the brace begins no key. */
static size_t key_length(const char *at)
{
	size_t n = strspn(at + 1, KEY_LETTERS);

	return at[1 + n] == '}' ? n : 0;
}

/* Returns true if the object @in of the summary line has the key, including parts after a dot. */
static bool summary_has_key(enum summary_in in, const char *key, size_t length)
{
	const char *dot = memchr(key, '.', length);
	size_t head = dot ? (size_t)(dot - key) : length;
	enum metric_id id;

	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++) {
		const struct member *f = summary_field_get(i);

		if (f->in != in || !head || !text_is(key, head, f->key))
			continue;
		if (!dot)
			return true;
		if (f->type == TYPE_OBJECT)
			return summary_has_key(f->opens, dot + 1, length - head - 1);
		return f->type == TYPE_LOSSES ||
		       f->type == TYPE_OOM; /* the names of losses are not fixed */
	}
	return in == IN_LINE && !dot && !metric_find(key, length, &id) &&
	       metric_get(id)->kind == KIND_COUNTER;
}

/* Search for the most similar key. Keys are composed, so the text is copied here. */
struct key_search {
	struct nearest nearest;
	char found[KEY_BYTES];
};

static void key_offer(struct key_search *s, const char *key)
{
	nearest_offer(&s->nearest, key);
	if (s->nearest.word != key)
		return;
	snprintf(s->found, sizeof(s->found), "%s", key);
	s->nearest.word = s->found;
}

/* Offers all keys of the object, with the prefix @before, which is empty or ends with a dot. */
static void keys_offer(struct key_search *s, enum summary_in in, const char *before)
{
	char key[KEY_BYTES];

	for (size_t i = 0; i < NR_SUMMARY_FIELDS; i++) {
		const struct member *f = summary_field_get(i);

		if (f->in != in || !*f->key)
			continue;
		snprintf(key, sizeof(key), "%s%s", before, f->key);
		key_offer(s, key);
		if (f->type != TYPE_OBJECT)
			continue;
		snprintf(key, sizeof(key), "%s%s.", before, f->key);
		keys_offer(s, f->opens, key);
	}
}

static void key_refuse(char why[TEMPLATE_WHY_BYTES], const char *key, size_t length)
{
	struct key_search s;
	int used = snprintf(why, TEMPLATE_WHY_BYTES, "there is no key {%.*s}",
			    (int)(length < KEY_BYTES ? length : KEY_BYTES), key);

	nearest_begin(&s.nearest, key, length);
	keys_offer(&s, IN_LINE, "");
	for (int i = 0; i < NR_METRICS; i++)
		if (metric_get((enum metric_id)i)->kind == KIND_COUNTER)
			key_offer(&s, metric_get((enum metric_id)i)->key);
	if (s.nearest.word)
		snprintf(why + used, TEMPLATE_WHY_BYTES - (size_t)used, "; did you mean {%s}?",
			 s.nearest.word);
	else
		snprintf(why + used, TEMPLATE_WHY_BYTES - (size_t)used,
			 "; those of the summary line can be named");
}

int template_check(const char *text, char why[TEMPLATE_WHY_BYTES])
{
	for (const char *at = text; *at; at++) {
		size_t n = *at == '{' ? key_length(at) : 0;

		if ((*at == '%' || *at == '\\') && at[1]) {
			at++;
		} else if (n && !summary_has_key(IN_LINE, at + 1, n)) {
			key_refuse(why, at + 1, n);
			return -EINVAL;
		}
	}
	return 0;
}

/* Returns the summary as the tree of its line; NULL if memory runs out. */
static json_t *summary_tree(const struct summary *s)
{
	struct jsonw j = { 0 };
	json_t *tree = NULL;

	write_summary(&j, s);
	if (!j.failed)
		tree = jansson_loadb(j.text, j.used, 0, NULL);
	jsonw_done(&j);
	return tree;
}

static void value_put(struct buffer *t, const json_t *v)
{
	struct jsonw j = { 0 };

	if (!v || json_is_null(v)) {
		buffer_puts(t, "?");
	} else if (json_is_string(v)) {
		buffer_put_printable(t, json_string_value(v), json_string_length(v));
	} else {
		tree_write(&j, NULL, v);
		buffer_put(t, j.text, j.used);
		t->failed |= j.failed;
		jsonw_done(&j);
	}
}

static void key_put(struct buffer *t, const json_t *tree, const char *key, size_t length)
{
	while (tree) {
		const char *dot = memchr(key, '.', length);
		size_t head = dot ? (size_t)(dot - key) : length;
		char name[KEY_BYTES];

		snprintf(name, sizeof(name), "%.*s", (int)head, key);
		tree = json_object_get(tree, name);
		if (!dot)
			break;
		key += head + 1;
		length -= head + 1;
	}
	value_put(t, tree);
}

static void letter_put(struct buffer *t, char letter, const struct summary *s,
		       const json_t *command)
{
	char text[] = { '?', letter, '\0' };

	if (letter == '%')
		buffer_puts(t, "%");
	else if (!time_letter_put(t, letter, s, command))
		buffer_puts(t, time_letter_is_known(letter) ? "?" : text);
}

static void escape_put(struct buffer *t, char letter)
{
	char text[] = { '?', '\\', letter, '\0' };

	if (letter == 't' || letter == 'n')
		buffer_puts(t, letter == 't' ? "\t" : "\n");
	else if (letter == '\\' || letter == '{')
		buffer_put(t, &letter, 1);
	else
		buffer_puts(t, text); /* as GNU time does */
}

int template_write(struct buffer *t, const char *text, const struct summary *s,
		   const json_t *command)
{
	json_t *tree = summary_tree(s);

	t->failed |= !tree;
	for (const char *at = text; *at; at++) {
		size_t n = *at == '{' ? key_length(at) : 0;

		if (*at == '%') {
			letter_put(t, at[1], s, command);
			at += at[1] != '\0';
		} else if (*at == '\\') {
			escape_put(t, at[1]);
			at += at[1] != '\0';
		} else if (n) {
			key_put(t, tree, at + 1, n);
			at += n + 1;
		} else {
			buffer_put(t, at, 1);
		}
	}
	buffer_puts(t, "\n");
	json_decref(tree);
	return t->failed ? -ENOMEM : 0;
}

#define BLOCK_BYTES 512 /* unit of ru_inblock and ru_oublock */
#define HUNDREDTH_NS 10000000
#define NEVER_REPORTED "DKWXkprst"

static void hundredths_put(struct buffer *t, uint64_t ns)
{
	uint64_t hundredths = ns / HUNDREDTH_NS;

	buffer_printf(t, "%" PRIu64 ".%02" PRIu64, hundredths / 100, hundredths % 100);
}

static void elapsed_put(struct buffer *t, uint64_t ns)
{
	uint64_t s = ns / NSEC_PER_SEC;

	if (s >= 3600)
		buffer_printf(t, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600, s % 3600 / 60,
			      s % 60);
	else
		buffer_printf(t, "%" PRIu64 ":%02" PRIu64 ".%02" PRIu64, s / 60, s % 60,
			      (uint64_t)(ns % NSEC_PER_SEC / HUNDREDTH_NS));
}

static bool percent_put(struct buffer *t, const struct summary *s)
{
	uint64_t wall_us = s->wall_ns / 1000;

	if (sample_has(&s->total, M_cpu) && wall_us)
		buffer_printf(t, "%" PRIu64 "%%", s->total.value[M_cpu] / 1000 * 100 / wall_us);
	else
		buffer_puts(t, "?%"); /* as GNU time does */
	return true;
}

static bool total_put(struct buffer *t, const struct summary *s, enum metric_id id, uint64_t unit)
{
	if (!sample_has(&s->total, id))
		return false;
	if (metric_get(id)->unit == UNIT_NS)
		hundredths_put(t, s->total.value[id]);
	else
		buffer_printf(t, "%" PRIu64, s->total.value[id] / unit);
	return true;
}

bool time_letter_is_known(char letter)
{
	return letter && strchr("CEFIMOPRSUZcewx" NEVER_REPORTED, letter);
}

static bool status_put(struct buffer *t, const struct summary *s)
{
	if (s->has_status)
		buffer_printf(t, "%d", s->signal ? 0 : s->exit_code);
	return s->has_status;
}

static bool largest_put(struct buffer *t, const struct summary *s)
{
	if (s->has_process_rss_peak)
		buffer_printf(t, "%" PRIu64, s->process_rss_peak_bytes / 1024);
	return s->has_process_rss_peak;
}

bool time_letter_put(struct buffer *t, char letter, const struct summary *s, const json_t *command)
{
	static const struct {
		char letter;
		enum metric_id id;
		uint64_t unit;
	} totals[] = {
		{ 'U', M_user, 1 },           { 'S', M_system, 1 },          { 'F', M_majflt, 1 },
		{ 'R', M_minflt, 1 },         { 'w', M_nvcsw, 1 },           { 'c', M_nivcsw, 1 },
		{ 'I', M_read, BLOCK_BYTES }, { 'O', M_write, BLOCK_BYTES },
	};

	for (size_t i = 0; i < sizeof(totals) / sizeof(*totals); i++)
		if (totals[i].letter == letter)
			return total_put(t, s, totals[i].id, totals[i].unit);
	switch (letter) {
	case 'C':
		return tree_put_words(t, command);
	case 'M':
		return largest_put(t, s);
	case 'P':
		return percent_put(t, s);
	case 'x':
		return status_put(t, s);
	case 'E':
		elapsed_put(t, s->wall_ns);
		return true;
	case 'e':
		hundredths_put(t, s->wall_ns);
		return true;
	case 'Z':
		buffer_printf(t, "%ld", sysconf(_SC_PAGESIZE));
		return true;
	default:
		if (!time_letter_is_known(letter))
			return false;
		buffer_puts(t, "0");
		return true;
	}
}
