/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The notation of OpenTelemetry's protocol, protobuf: fields with numbers, of which a message is
 * made; its length stands before it. A request is messages of field 1, one after the other.
 */
#ifndef PUSH_OTLP_H
#define PUSH_OTLP_H

#include "base/buffer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define OTLP_RECORD '\n' /* first byte of a message of field 1 */

/* Fields are below 16. These append one. */
void otlp_put_integer(struct buffer *t, unsigned field, uint64_t v);
void otlp_put_fixed(struct buffer *t, unsigned field, uint64_t v);
void otlp_put_double(struct buffer *t, unsigned field, double v);
/* A text must be UTF-8: what is not, and control characters, become "?". */
void otlp_put_text(struct buffer *t, unsigned field, const char *s, size_t n);
/* A KeyValue with a string, or nothing if either is empty. */
void otlp_put_attribute(struct buffer *t, unsigned field, const char *key, const char *value,
			size_t length);
/* Begins a message or a text, and returns what otlp_close() needs once its content is there. */
size_t otlp_open(struct buffer *t, unsigned field);
void otlp_close(struct buffer *t, size_t at);

/* A field that was read. */
struct otlp_field {
	const char *bytes; /* NULL: it is a number */
	size_t length;
	uint64_t number;
};

/* Finds a field of the message. Returns false if there is none before bytes that are no message. */
bool otlp_find(struct otlp_field *f, unsigned field, const char *bytes, size_t length);
/* Returns the length of the message of field 1 at @bytes with all that is before it; 0: no such. */
size_t otlp_record_length(const char *bytes, size_t length);

#endif
