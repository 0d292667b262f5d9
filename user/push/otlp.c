// SPDX-License-Identifier: BSD-2-Clause
#include "push/otlp.h"

#include <string.h>

#define VARINT_BYTES 10 /* most, of 64 bits */

enum wire { WIRE_VARINT = 0, WIRE_FIXED64 = 1, WIRE_BYTES = 2, WIRE_FIXED32 = 5 };

/* KeyValue, and AnyValue */
enum { KEY = 1, VALUE = 2 };
enum { STRING_VALUE = 1 };

static size_t varint_write(char out[VARINT_BYTES], uint64_t v)
{
	size_t n = 0;

	for (; v > 0x7f; v >>= 7)
		out[n++] = (char)(v | 0x80);
	out[n++] = (char)v;
	return n;
}

static void varint_put(struct buffer *t, uint64_t v)
{
	char out[VARINT_BYTES];

	buffer_put(t, out, varint_write(out, v));
}

static void otlp_put_tag(struct buffer *t, unsigned field, enum wire wire)
{
	varint_put(t, field << 3 | wire);
}

void otlp_put_integer(struct buffer *t, unsigned field, uint64_t v)
{
	otlp_put_tag(t, field, WIRE_VARINT);
	varint_put(t, v);
}

void otlp_put_fixed(struct buffer *t, unsigned field, uint64_t v)
{
	char out[8];

	for (size_t i = 0; i < sizeof(out); i++)
		out[i] = (char)(v >> (8 * i));
	otlp_put_tag(t, field, WIRE_FIXED64);
	buffer_put(t, out, sizeof(out));
}

void otlp_put_double(struct buffer *t, unsigned field, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	otlp_put_fixed(t, field, bits);
}

void otlp_put_text(struct buffer *t, unsigned field, const char *s, size_t n)
{
	const size_t at = otlp_open(t, field);

	buffer_put_printable(t, s, n);
	otlp_close(t, at);
}

void otlp_put_attribute(struct buffer *t, unsigned field, const char *key, const char *value,
			size_t length)
{
	size_t at, at_value;

	if (!*key || !length)
		return;
	at = otlp_open(t, field);
	otlp_put_text(t, KEY, key, strlen(key));
	at_value = otlp_open(t, VALUE);
	otlp_put_text(t, STRING_VALUE, value, length);
	otlp_close(t, at_value);
	otlp_close(t, at);
}

size_t otlp_open(struct buffer *t, unsigned field)
{
	otlp_put_tag(t, field, WIRE_BYTES);
	return t->used;
}

/* The length is known only now: the content moves by its bytes. */
void otlp_close(struct buffer *t, size_t at)
{
	const size_t length = t->used - at;
	char out[VARINT_BYTES];
	const size_t n = varint_write(out, length);

	buffer_put(t, out, n);
	if (t->failed)
		return;
	memmove(t->text + at + n, t->text + at, length);
	memcpy(t->text + at, out, n);
}

/* Returns the length of the number, or 0 if there is none. */
static size_t varint_read(uint64_t *v, const char *bytes, size_t length)
{
	*v = 0;
	for (size_t i = 0; i < length && i < VARINT_BYTES; i++) {
		const uint64_t bits = (unsigned char)bytes[i] & 0x7f;

		*v |= bits << (7 * i);
		if (!((unsigned char)bytes[i] & 0x80))
			return i + 1;
	}
	return 0;
}

/* Reads the field at @bytes. Returns its length, or 0 if there is none. */
static size_t otlp_read(struct otlp_field *f, uint64_t *tag, const char *bytes, size_t length)
{
	size_t at = varint_read(tag, bytes, length), n = 0;

	*f = (struct otlp_field){ 0 };
	if (!at)
		return 0;
	switch (*tag & 7) {
	case WIRE_VARINT:
		n = varint_read(&f->number, bytes + at, length - at);
		return n ? at + n : 0;
	case WIRE_BYTES:
		n = varint_read(&f->number, bytes + at, length - at);
		at += n;
		if (!n || f->number > length - at)
			return 0;
		f->bytes = bytes + at;
		f->length = (size_t)f->number;
		return at + f->length;
	case WIRE_FIXED64:
	case WIRE_FIXED32:
		n = (*tag & 7) == WIRE_FIXED64 ? 8 : 4;
		return n <= length - at ? at + n : 0;
	default:
		return 0;
	}
}

bool otlp_find(struct otlp_field *f, unsigned field, const char *bytes, size_t length)
{
	uint64_t tag;

	for (size_t n; (n = otlp_read(f, &tag, bytes, length)); bytes += n, length -= n)
		if (tag >> 3 == field)
			return true;
	return false;
}

size_t otlp_record_length(const char *bytes, size_t length)
{
	struct otlp_field f;
	uint64_t tag;

	return length && *bytes == OTLP_RECORD ? otlp_read(&f, &tag, bytes, length) : 0;
}
