// SPDX-License-Identifier: BSD-2-Clause
#include "wire/line_protocol.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 64

/* Where we are in a line; the end is that of all lines. */
struct cursor {
	char *at, *end;
};

static bool is_over(const struct cursor *c)
{
	return c->at == c->end || *c->at == '\n';
}

static bool is_at(const struct cursor *c, char wanted)
{
	return c->at < c->end && *c->at == wanted;
}

static bool take(struct cursor *c, char wanted)
{
	if (!is_at(c, wanted))
		return false;
	c->at++;
	return true;
}

static void skip_blanks(struct cursor *c)
{
	while (is_at(c, ' ') || is_at(c, '\t') || is_at(c, '\r'))
		c->at++;
}

/* A name ends before one of @stops; a backslash takes its meaning from one of ",= ". */
static int take_name(struct cursor *c, const char *stops, struct span *s)
{
	char *to = c->at;

	s->text = to;
	while (!is_over(c) && !strchr(stops, *c->at)) {
		if (*c->at == '\0')
			return -EBADMSG;
		if (*c->at == '\\' && c->at + 1 < c->end && c->at[1] && strchr(",= ", c->at[1]))
			c->at++;
		*to++ = *c->at++;
	}
	s->length = (size_t)(to - s->text);
	return s->length ? 0 : -EBADMSG;
}

static bool is_same(const struct span *a, const struct span *b)
{
	return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static int take_tag(struct cursor *c, struct point *p)
{
	struct point_tag *tag = &p->tags[p->nr_tags];

	if (p->nr_tags == POINT_TAGS)
		return -E2BIG;
	if (take_name(c, ",= ", &tag->key) || !take(c, '=') || take_name(c, ",= ", &tag->value) ||
	    is_at(c, '='))
		return -EBADMSG;
	for (size_t i = 0; i < p->nr_tags; i++)
		if (is_same(&p->tags[i].key, &tag->key))
			return -EBADMSG;
	p->nr_tags++;
	return 0;
}

/* The quote is behind us. */
static int take_string(struct cursor *c, struct span *s)
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

static bool take_boolean(const char *text, bool *is_true)
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

/* @text ends with i or u, which is cut off. */
static int parse_integer(char *text, size_t length, struct point_field *f)
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
	f->type = is_natural ? FIELD_UNSIGNED : FIELD_INTEGER;
	return errno || *end ? -EBADMSG : 0;
}

static int take_number(struct cursor *c, struct point_field *f)
{
	char text[NUMBER_BYTES], *end;
	size_t n = 0;

	for (; !is_over(c) && !strchr(", \r", *c->at); c->at++) {
		if (n == sizeof(text) - 1 || !*c->at)
			return -EBADMSG;
		text[n++] = *c->at;
	}
	text[n] = '\0';
	if (take_boolean(text, &f->is_true)) {
		f->type = FIELD_BOOLEAN;
		return 0;
	}
	if (n && (text[n - 1] == 'i' || text[n - 1] == 'u'))
		return parse_integer(text, n, f);
	if (!n || strspn(text, "+-.eE0123456789") != n)
		return -EBADMSG;
	f->type = FIELD_FLOAT;
	f->number = strtod(text, &end);
	return *end || !isfinite(f->number) ? -EBADMSG : 0;
}

static int take_field(struct cursor *c, struct point *p)
{
	struct point_field *f = &p->fields[p->nr_fields];

	if (p->nr_fields == POINT_FIELDS)
		return -E2BIG;
	if (take_name(c, ",= ", &f->key) || !take(c, '='))
		return -EBADMSG;
	if (take(c, '"')) {
		f->type = FIELD_STRING;
		if (take_string(c, &f->string))
			return -EBADMSG;
	} else if (take_number(c, f)) {
		return -EBADMSG;
	}
	for (size_t i = 0; i < p->nr_fields; i++)
		if (is_same(&p->fields[i].key, &f->key))
			return -EBADMSG;
	p->nr_fields++;
	return 0;
}

/* Nanoseconds since 1970. */
static int take_time(struct cursor *c, struct point *p)
{
	uint64_t ns = 0;

	for (; !is_over(c) && *c->at >= '0' && *c->at <= '9'; c->at++) {
		uint64_t digit = (uint64_t)(*c->at - '0');

		if (ns > (POINT_LAST_NS - digit) / 10)
			return -EBADMSG;
		ns = ns * 10 + digit;
		p->has_time = true;
	}
	p->time_ns = ns;
	return 0;
}

static int take_point(struct cursor *c, struct point *p)
{
	int err = take_name(c, ", ", &p->name);

	while (!err && take(c, ','))
		err = take_tag(c, p);
	if (err)
		return err;
	if (!is_at(c, ' '))
		return -EBADMSG;
	skip_blanks(c);
	do
		err = take_field(c, p);
	while (!err && take(c, ','));
	if (err)
		return err;
	if (!is_over(c) && !is_at(c, ' ') && !is_at(c, '\r'))
		return -EBADMSG;
	skip_blanks(c);
	err = take_time(c, p);
	skip_blanks(c);
	return err || is_over(c) ? err : -EBADMSG;
}

int point_parse(struct point *p, char **at, char *end)
{
	struct cursor c = { .at = *at, .end = end };
	int err = 0;

	p->nr_tags = p->nr_fields = 0;
	p->has_time = false;
	skip_blanks(&c);
	if (!is_over(&c) && *c.at != '#') {
		err = take_point(&c, p);
		if (!err)
			err = 1;
	}
	while (!is_over(&c))
		c.at++;
	if (err == 1 && c.at - *at > POINT_BYTES)
		err = -E2BIG;
	*at = c.at < end ? c.at + 1 : end;
	return err;
}

size_t point_lines(const char *text, size_t length)
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
