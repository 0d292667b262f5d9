// SPDX-License-Identifier: BSD-2-Clause
#include "run/line_protocol.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 64

/* Position within a line; @end is the end of all lines. */
struct cursor {
	char *at, *end;
};

static bool text_is_over(const struct cursor *c)
{
	return c->at == c->end || *c->at == '\n';
}

static bool text_is_at(const struct cursor *c, char wanted)
{
	return c->at < c->end && *c->at == wanted;
}

static bool text_take(struct cursor *c, char wanted)
{
	if (!text_is_at(c, wanted))
		return false;
	c->at++;
	return true;
}

static void blanks_skip(struct cursor *c)
{
	while (text_is_at(c, ' ') || text_is_at(c, '\t') || text_is_at(c, '\r'))
		c->at++;
}

/* Parses a name, which ends before one of @stops. A backslash escapes one of ",= ". */
static int name_take(struct cursor *c, const char *stops, struct piece *s)
{
	char *to = c->at;

	s->text = to;
	while (!text_is_over(c) && !strchr(stops, *c->at)) {
		if (*c->at == '\0')
			return -EBADMSG;
		if (*c->at == '\\' && c->at + 1 < c->end && c->at[1] && strchr(",= ", c->at[1]))
			c->at++;
		*to++ = *c->at++;
	}
	s->length = (size_t)(to - s->text);
	return s->length ? 0 : -EBADMSG;
}

static bool piece_is_same(const struct piece *a, const struct piece *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static int tag_take(struct cursor *c, struct point *p)
{
	struct point_tag *tag = &p->tags[p->nr_tags];

	if (p->nr_tags == POINT_TAGS)
		return -E2BIG;
	if (name_take(c, ",= ", &tag->key) || !text_take(c, '=') ||
	    name_take(c, ",= ", &tag->value) || text_is_at(c, '='))
		return -EBADMSG;
	for (size_t i = 0; i < p->nr_tags; i++)
		if (piece_is_same(&p->tags[i].key, &tag->key))
			return -EBADMSG;
	p->nr_tags++;
	return 0;
}

/* Parses the rest of a string after its opening quote. */
static int string_take(struct cursor *c, struct piece *s)
{
	char *stop = c->at, *to = c->at;

	while (stop < c->end && *stop != '"')
		stop += *stop == '\\' && stop + 1 < c->end ? 2 : 1;
	if (stop >= c->end)
		return -EBADMSG;
	s->text = c->at;
	for (char *from = c->at; from < stop; *to++ = *from++)
		if (*from == '\\' && (from[1] == '"' || from[1] == '\\'))
			from++;
	s->length = (size_t)(to - s->text);
	c->at = stop + 1;
	return 0;
}

static bool boolean_take(const char *text, bool *is_true)
{
	static const char *const words[] = { "t", "T", "true",  "True",  "TRUE",
					     "f", "F", "false", "False", "FALSE" };

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(text, words[i]) != 0)
			continue;
		*is_true = i < sizeof(words) / sizeof(*words) / 2;
		return true;
	}
	return false;
}

/* Parses @text, which ends with i or u, and cuts that letter off. */
static int integer_parse(char *text, size_t length, struct point_field *f)
{
	bool is_natural = text[length - 1] == 'u';
	char *end;

	text[length - 1] = '\0';
	if (!*text || strspn(text, is_natural ? "0123456789" : "+-0123456789") != length - 1)
		return -EBADMSG;
	errno = 0;
	if (is_natural)
		f->natural = strtoull(text, &end, 10);
	else
		f->integer = strtoll(text, &end, 10);
	f->type = is_natural ? POINT_UNSIGNED : POINT_INTEGER;
	return errno || *end ? -EBADMSG : 0;
}

static int number_take(struct cursor *c, struct point_field *f)
{
	char text[NUMBER_BYTES], *end;
	size_t n = 0;

	for (; !text_is_over(c) && !strchr(", \r", *c->at); c->at++) {
		if (n == sizeof(text) - 1 || !*c->at)
			return -EBADMSG;
		text[n++] = *c->at;
	}
	text[n] = '\0';
	if (boolean_take(text, &f->is_true)) {
		f->type = POINT_BOOLEAN;
		return 0;
	}
	if (n && (text[n - 1] == 'i' || text[n - 1] == 'u'))
		return integer_parse(text, n, f);
	if (!n || strspn(text, "+-.eE0123456789") != n)
		return -EBADMSG;
	f->type = POINT_FLOAT;
	f->number = strtod(text, &end);
	return *end || !isfinite(f->number) ? -EBADMSG : 0;
}

static int field_take(struct cursor *c, struct point *p)
{
	struct point_field *f = &p->fields[p->nr_fields];

	if (p->nr_fields == POINT_FIELDS)
		return -E2BIG;
	if (name_take(c, ",= ", &f->key) || !text_take(c, '='))
		return -EBADMSG;
	if (text_take(c, '"')) {
		f->type = POINT_STRING;
		if (string_take(c, &f->string))
			return -EBADMSG;
	} else if (number_take(c, f)) {
		return -EBADMSG;
	}
	for (size_t i = 0; i < p->nr_fields; i++)
		if (piece_is_same(&p->fields[i].key, &f->key))
			return -EBADMSG;
	p->nr_fields++;
	return 0;
}

/* Parses nanoseconds since 1970. */
static int time_take(struct cursor *c, struct point *p)
{
	uint64_t ns = 0;

	for (; !text_is_over(c) && *c->at >= '0' && *c->at <= '9'; c->at++) {
		uint64_t digit = (uint64_t)(*c->at - '0');

		if (ns > (POINT_LAST_NS - digit) / 10)
			return -EBADMSG;
		ns = ns * 10 + digit;
		p->has_time = true;
	}
	p->time_ns = ns;
	return 0;
}

static int point_take(struct cursor *c, struct point *p)
{
	int err = name_take(c, ", ", &p->name);

	while (!err && text_take(c, ','))
		err = tag_take(c, p);
	if (err)
		return err;
	if (!text_is_at(c, ' '))
		return -EBADMSG;
	blanks_skip(c);
	do
		err = field_take(c, p);
	while (!err && text_take(c, ','));
	if (err)
		return err;
	if (!text_is_over(c) && !text_is_at(c, ' ') && !text_is_at(c, '\r'))
		return -EBADMSG;
	blanks_skip(c);
	err = time_take(c, p);
	blanks_skip(c);
	return err || text_is_over(c) ? err : -EBADMSG;
}

int point_parse(struct point *p, char **at, char *end)
{
	struct cursor c = { .at = *at, .end = end };
	int err = 0;

	p->nr_tags = p->nr_fields = 0;
	p->has_time = false;
	blanks_skip(&c);
	if (!text_is_over(&c) && *c.at != '#') {
		err = point_take(&c, p);
		if (!err)
			err = 1;
	}
	while (!text_is_over(&c))
		c.at++;
	if (err == 1 && c.at - *at > POINT_BYTES)
		err = -E2BIG;
	*at = c.at < end ? c.at + 1 : end;
	return err;
}

size_t point_count_lines(const char *text, size_t length)
{
	const char *end = text + length;
	size_t lines = 0;

	while (text < end) {
		const char *stop = memchr(text, '\n', (size_t)(end - text));

		if (!stop)
			stop = end;
		while (text < stop && (*text == ' ' || *text == '\t' || *text == '\r'))
			text++;
		lines += text < stop && *text != '#';
		text = stop + 1;
	}
	return lines;
}
