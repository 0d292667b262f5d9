// SPDX-License-Identifier: BSD-2-Clause
#include "push/batch.h"

#include "base/memory.h"
#include "push/otlp.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#define GZIP_BITS (15 + 16)
#define CHUNK_BYTES 16384

static void *zlib_allocate(void *opaque, unsigned n, unsigned size)
{
	(void)opaque;
	return memory_calloc(n, size);
}

static void zlib_free(void *opaque, void *at)
{
	(void)opaque;
	free(at);
}

/* Runs @step until @end, with the output appended to @to. Returns the last result. */
static int zlib_run(z_stream *z, int (*step)(z_stream *z, int flush), int flush, struct buffer *to)
{
	char out[CHUNK_BYTES];
	int result;

	do {
		z->next_out = (Bytef *)out;
		z->avail_out = sizeof(out);
		result = step(z, flush);
		buffer_put(to, out, sizeof(out) - z->avail_out);
	} while (result == Z_OK && !to->failed && to->used <= BATCH_TEXT_BYTES);
	return result;
}

void batch_compress(struct buffer *to, const char *text, size_t length)
{
	z_stream z = { .zalloc = zlib_allocate, .zfree = zlib_free };

	z.next_in = (Bytef *)text;
	z.avail_in = (unsigned)length;
	if (deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
		to->failed = true;
		return;
	}
	if (zlib_run(&z, deflate, Z_FINISH, to) != Z_STREAM_END)
		to->failed = true;
	deflateEnd(&z);
}

void batch_expand(struct buffer *to, const char *bytes, size_t length)
{
	z_stream z = { .zalloc = zlib_allocate, .zfree = zlib_free };

	z.next_in = (Bytef *)bytes;
	z.avail_in = (unsigned)length;
	if (inflateInit2(&z, GZIP_BITS) != Z_OK) {
		to->failed = true;
		return;
	}
	if (zlib_run(&z, inflate, Z_NO_FLUSH, to) != Z_STREAM_END || to->used > BATCH_TEXT_BYTES)
		to->failed = true;
	inflateEnd(&z);
}

static size_t line_length(const char *text, size_t length)
{
	const size_t record = otlp_record_length(text, length);
	const char *end = record ? NULL : memchr(text, '\n', length);

	if (record)
		return record;
	return end ? (size_t)(end - text) + 1 : length;
}

size_t batch_cut(const char *text, size_t length, size_t lines, size_t *nr)
{
	size_t at = 0, n;

	for (*nr = 0; at < length && *nr < lines; (*nr)++, at += n) {
		n = line_length(text + at, length - at);
		if (*nr && at + n > BATCH_BYTES)
			break;
	}
	return at;
}

size_t batch_skip(const char *text, size_t length, size_t lines)
{
	size_t at = 0;

	while (lines-- && at < length)
		at += line_length(text + at, length - at);
	return at;
}

size_t batch_count(const char *text, size_t length)
{
	size_t n = 0;

	for (size_t at = 0; at < length; n++)
		at += line_length(text + at, length - at);
	return n;
}

bool batch_is_for(const struct buffer *t, enum dialect dialect)
{
	const bool has_records = t->used && *t->text == OTLP_RECORD;

	return has_records == (dialect == DIALECT_OTLP);
}

size_t batch_row_lines(enum dialect dialect)
{
	return dialect == DIALECT_OTLP ? 1 : 2;
}

void batch_choose(struct buffer *to, const struct buffer *from, enum dialect dialect)
{
	const bool are_all = batch_row_lines(dialect) == 1;
	bool is_chosen = dialect == DIALECT_INFLUXDB;

	for (size_t at = 0, n; at < from->used; at += n, is_chosen = !is_chosen) {
		n = line_length(from->text + at, from->used - at);
		if (is_chosen || are_all)
			buffer_put(to, from->text + at, n);
	}
}
